/** Events of Kubernetes: what a person would want to know, told once. */
@NullMarked
package dev.stasis.operator.event;

import org.jspecify.annotations.NullMarked;
