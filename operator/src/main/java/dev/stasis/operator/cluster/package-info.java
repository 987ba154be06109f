/** The cluster as observed by its watches: one watch per kind, shared by all reconcilers. */
@NullMarked
package dev.stasis.operator.cluster;

import org.jspecify.annotations.NullMarked;
