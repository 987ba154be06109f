/**
 * Moves a running pod to another node, in either order: two lists of steps. The surviving copy is
 * recorded once, by a write that fails if another decision was recorded before. Until then the
 * source can always be thawed; from then on only the target runs.
 */
@NullMarked
package dev.stasis.operator.migration;

import org.jspecify.annotations.NullMarked;
