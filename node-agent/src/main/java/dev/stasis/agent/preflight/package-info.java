/**
 * What rules a checkpoint out, found before anything is frozen: each refusal names the property and
 * both values.
 */
@NullMarked
package dev.stasis.agent.preflight;

import org.jspecify.annotations.NullMarked;
