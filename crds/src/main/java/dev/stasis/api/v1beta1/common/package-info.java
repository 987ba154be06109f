/**
 * Values that several kinds share.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1beta1.common;

import org.jspecify.annotations.NullMarked;
