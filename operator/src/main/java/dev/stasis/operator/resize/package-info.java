/**
 * Provides memory for a pod's device memory by in-place resize: the request, the plan and the
 * answer.
 */
@NullMarked
package dev.stasis.operator.resize;

import org.jspecify.annotations.NullMarked;
