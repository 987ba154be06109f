/**
 * Work for agents: operations are objects with derived names, so that a restarted operator finds
 * the operations that it created.
 */
@NullMarked
package dev.stasis.operator.operation;

import org.jspecify.annotations.NullMarked;
