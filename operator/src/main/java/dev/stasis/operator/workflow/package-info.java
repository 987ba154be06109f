/**
 * Runs a request as a list of steps. Each step defines its observation, its action, its phase, its
 * timeout and its undo.
 */
@NullMarked
package dev.stasis.operator.workflow;

import org.jspecify.annotations.NullMarked;
