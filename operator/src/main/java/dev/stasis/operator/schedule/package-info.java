/**
 * GpuCheckpointSchedule: decides when runs start, which checkpoints are kept, and which failed pods
 * are restored.
 */
@NullMarked
package dev.stasis.operator.schedule;

import org.jspecify.annotations.NullMarked;
