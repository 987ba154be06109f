/**
 * The requirements of a frozen pod for the place of its restore, and whether a node satisfies them:
 * pure functions over one table, {@link dev.stasis.compat.Property}. Independent of Kubernetes and
 * CUDA.
 */
@NullMarked
package dev.stasis.compat;

import org.jspecify.annotations.NullMarked;
