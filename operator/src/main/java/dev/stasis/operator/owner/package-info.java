/**
 * Pods that a controller owns: the pod that it makes in the place of one that was frozen is the
 * target of the restore, and nothing starts cold in between.
 */
@NullMarked
package dev.stasis.operator.owner;

import org.jspecify.annotations.NullMarked;
