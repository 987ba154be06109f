/** Kubernetes events, each created once. */
@NullMarked
package dev.stasis.operator.event;

import org.jspecify.annotations.NullMarked;
