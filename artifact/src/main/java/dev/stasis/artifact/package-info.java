/**
 * The artifact: one checkpoint as a folder of files that is either complete and verified by its
 * digests, or absent. Independent of Kubernetes and CUDA.
 */
@NullMarked
package dev.stasis.artifact;

import org.jspecify.annotations.NullMarked;
