/**
 * Version skew: reads objects that a newer release has written. CRDs are upgraded first, so older
 * operators and agents may read fields that they do not know.
 */
@NullMarked
package dev.stasis.api.skew;

import org.jspecify.annotations.NullMarked;
