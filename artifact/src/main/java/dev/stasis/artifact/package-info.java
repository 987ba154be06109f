/** The artifact: one checkpoint as files. Knows neither Kubernetes nor CUDA. */
@NullMarked
package dev.stasis.artifact;

import org.jspecify.annotations.NullMarked;
