/**
 * Everything about criu: its options as values, its run with a deadline, its log and its statistics
 * as typed outcomes. criu never ends a workload here: a dump always leaves it stopped.
 */
@NullMarked
package dev.stasis.agent.criu;

import org.jspecify.annotations.NullMarked;
