/**
 * Checkpoint stores beyond a node: artifacts as encrypted, compressed chunks, each stored once per
 * namespace. Knows neither Kubernetes nor CUDA. docs/design/store-format.md describes the format.
 */
@NullMarked
package dev.stasis.store;

import org.jspecify.annotations.NullMarked;
