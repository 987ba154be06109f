/**
 * Moving device regions: which memory may be moved, the journal that says where each byte's only
 * copy is, and the run of {@code stasis-runtime move}, which does it.
 */
@NullMarked
package dev.stasis.agent.mover;

import org.jspecify.annotations.NullMarked;
