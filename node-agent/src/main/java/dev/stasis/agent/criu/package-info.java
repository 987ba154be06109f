/**
 * Everything about criu: its options as values, running it with a deadline, and its log and
 * statistics as typed outcomes. criu never ends a workload: a dump always leaves it stopped.
 */
@NullMarked
package dev.stasis.agent.criu;

import org.jspecify.annotations.NullMarked;
