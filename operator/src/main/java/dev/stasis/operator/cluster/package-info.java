/** The cluster as its watches show it: one watch a kind, shared by all reconcilers. */
@NullMarked
package dev.stasis.operator.cluster;

import org.jspecify.annotations.NullMarked;
