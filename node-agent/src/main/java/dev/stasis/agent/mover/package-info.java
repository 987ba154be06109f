/**
 * Moves device regions: selects the memory that may be moved, reads the journal of where each
 * byte's only copy is, and runs {@code stasis-runtime move}, which copies.
 */
@NullMarked
package dev.stasis.agent.mover;

import org.jspecify.annotations.NullMarked;
