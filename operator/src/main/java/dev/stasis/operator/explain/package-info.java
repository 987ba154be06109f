/**
 * Describes what a freeze would do, without doing it: the answer to dryRun, and to why a node does
 * not match.
 */
@NullMarked
package dev.stasis.operator.explain;

import org.jspecify.annotations.NullMarked;
