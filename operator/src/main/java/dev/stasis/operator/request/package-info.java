/** Requests that the operator itself creates, for schedules and preemption policies. */
@NullMarked
package dev.stasis.operator.request;

import org.jspecify.annotations.NullMarked;
