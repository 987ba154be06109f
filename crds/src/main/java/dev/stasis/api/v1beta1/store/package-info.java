/**
 * Spec and status of a {@link dev.stasis.api.v1beta1.GpuCheckpointStore}.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1beta1.store;

import org.jspecify.annotations.NullMarked;
