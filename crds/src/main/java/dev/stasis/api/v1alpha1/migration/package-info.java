/**
 * Spec and status of a {@link dev.stasis.api.v1alpha1.GpuMigration}.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1alpha1.migration;

import org.jspecify.annotations.NullMarked;
