/**
 * Parts of a status: conditions and phases with their times, human-readable text, and the decision
 * whether a change must be written.
 */
@NullMarked
package dev.stasis.operator.status;

import org.jspecify.annotations.NullMarked;
