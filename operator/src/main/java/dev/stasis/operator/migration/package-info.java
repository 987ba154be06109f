/**
 * Moves a running pod to another node: what is seen, the one decision that follows from it, and the
 * deed. Which copy of the workload is the one is written down once, by a write that fails when
 * somebody else has decided; before it the source can always go on, after it only the target.
 */
@NullMarked
package dev.stasis.operator.migration;

import org.jspecify.annotations.NullMarked;
