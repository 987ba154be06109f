/**
 * Describes what a freeze would do, without freezing anything: the answer to a dry run, and the
 * reasons why a node does not match.
 */
@NullMarked
package dev.stasis.operator.explain;

import org.jspecify.annotations.NullMarked;
