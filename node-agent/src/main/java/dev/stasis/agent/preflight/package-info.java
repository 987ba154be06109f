/**
 * Finds what prevents a checkpoint, before the freeze: each refusal names the property and both
 * values.
 */
@NullMarked
package dev.stasis.agent.preflight;

import org.jspecify.annotations.NullMarked;
