/**
 * Pods of controllers: the pod that a controller creates in place of a frozen one becomes the
 * target of the restore, and no pod has a cold start in between.
 */
@NullMarked
package dev.stasis.operator.owner;

import org.jspecify.annotations.NullMarked;
