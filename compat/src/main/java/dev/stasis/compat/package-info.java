/**
 * What a frozen pod needs of the place where it comes back, and whether a place has it: pure
 * functions over one table, {@link dev.stasis.compat.Property}. Knows neither Kubernetes nor CUDA.
 */
@NullMarked
package dev.stasis.compat;

import org.jspecify.annotations.NullMarked;
