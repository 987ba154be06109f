/**
 * Spec and status of a {@link dev.stasis.api.v1beta1.GpuPreemptionPolicy}.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1beta1.policy;

import org.jspecify.annotations.NullMarked;
