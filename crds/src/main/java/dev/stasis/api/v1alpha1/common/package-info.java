/**
 * Values that several kinds share.
 *
 * <p>What is nullable here may be absent: nobody has written it, and it has no default.
 */
@NullMarked
package dev.stasis.api.v1alpha1.common;

import org.jspecify.annotations.NullMarked;
