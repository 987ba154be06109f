/**
 * GpuCheckpoint. {@link dev.stasis.operator.checkpoint.CheckpointSteps} lists the steps of a
 * checkpoint, a suspension and an import.
 */
@NullMarked
package dev.stasis.operator.checkpoint;

import org.jspecify.annotations.NullMarked;
