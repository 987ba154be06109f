/**
 * Spec and status of a {@link dev.stasis.api.v1alpha1.GpuPreemptionPolicy}.
 *
 * <p>What is nullable here may be absent: nobody has written it, and it has no default.
 */
@NullMarked
package dev.stasis.api.v1alpha1.policy;

import org.jspecify.annotations.NullMarked;
