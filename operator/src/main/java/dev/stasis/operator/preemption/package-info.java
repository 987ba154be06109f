/**
 * Who yields to whom: the cheapest pods on one node whose going makes a waiting pod fit in
 * everything. Pure: from pods, nodes and a policy to a decision.
 */
@NullMarked
package dev.stasis.operator.preemption;

import org.jspecify.annotations.NullMarked;
