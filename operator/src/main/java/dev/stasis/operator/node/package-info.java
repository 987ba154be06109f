/**
 * Evaluates the agents' reports on their nodes: what a node offers, what prevents work on it, and
 * the labels by which the scheduler finds it.
 */
@NullMarked
package dev.stasis.operator.node;

import org.jspecify.annotations.NullMarked;
