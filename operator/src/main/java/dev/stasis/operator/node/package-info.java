/**
 * What the agents say of their nodes, read for the operator: what a node offers, what stands
 * against it now, and the labels by which the scheduler finds it.
 */
@NullMarked
package dev.stasis.operator.node;

import org.jspecify.annotations.NullMarked;
