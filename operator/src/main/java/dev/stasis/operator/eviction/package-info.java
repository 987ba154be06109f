/**
 * Saves a protected pod before its eviction: the webhook that holds the eviction, and the follow-up
 * of the checkpoint.
 */
@NullMarked
package dev.stasis.operator.eviction;

import org.jspecify.annotations.NullMarked;
