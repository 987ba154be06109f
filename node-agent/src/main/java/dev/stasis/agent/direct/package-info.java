/**
 * The direct data path: runs {@code stasis-keeper}, which holds a workload's device memory while
 * the driver checkpoints the small remainder, and reads the report of the library in a process.
 */
@NullMarked
package dev.stasis.agent.direct;

import org.jspecify.annotations.NullMarked;
