/**
 * The artifact: one checkpoint as a folder of files that is either whole and proven by its digests,
 * or not there. Knows neither Kubernetes nor CUDA.
 */
@NullMarked
package dev.stasis.artifact;

import org.jspecify.annotations.NullMarked;
