/**
 * Spec and status of a {@link dev.stasis.api.v1beta1.GpuMigration}.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1beta1.migration;

import org.jspecify.annotations.NullMarked;
