/**
 * Types of the API group stasis.dev, version v1beta1.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1beta1;

import org.jspecify.annotations.NullMarked;
