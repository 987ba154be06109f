/**
 * Types of the API group stasis.dev, version v1alpha1.
 *
 * <p>A nullable value may be absent: it has not been written and has no default.
 */
@NullMarked
package dev.stasis.api.v1alpha1;

import org.jspecify.annotations.NullMarked;
