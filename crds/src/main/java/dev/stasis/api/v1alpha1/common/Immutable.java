package dev.stasis.api.v1alpha1.common;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A field of a spec that cannot be set, changed or removed once the object exists: work has begun
 * by it. The schema gets a rule for each.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Immutable {}
