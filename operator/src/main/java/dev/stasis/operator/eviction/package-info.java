/**
 * Saves a protected pod before it is evicted: the webhook that holds the eviction, and what comes
 * of the checkpoint that is made meanwhile.
 */
@NullMarked
package dev.stasis.operator.eviction;

import org.jspecify.annotations.NullMarked;
