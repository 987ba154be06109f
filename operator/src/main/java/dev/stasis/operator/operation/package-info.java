/**
 * Work for agents: orders are objects with names made from what is known, so that an operator that
 * starts anew finds what it has ordered.
 */
@NullMarked
package dev.stasis.operator.operation;

import org.jspecify.annotations.NullMarked;
