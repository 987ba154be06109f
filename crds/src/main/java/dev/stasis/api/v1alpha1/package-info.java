/**
 * The resources of stasis.dev, version v1alpha1. Types only: they hold what YAML says.
 *
 * <p>What is nullable here may be absent: nobody has written it, and it has no default.
 */
@NullMarked
package dev.stasis.api.v1alpha1;

import org.jspecify.annotations.NullMarked;
