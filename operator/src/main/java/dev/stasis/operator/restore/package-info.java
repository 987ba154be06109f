/**
 * Restores a GpuCheckpoint into a new pod: {@link dev.stasis.operator.restore.RestoreWorkflow}
 * lists the steps. All state is in the API server, so that a restarted operator continues where the
 * last one was.
 */
@NullMarked
package dev.stasis.operator.restore;

import org.jspecify.annotations.NullMarked;
