/**
 * Brings a GpuCheckpoint back as a running pod: what is seen, the one decision that follows from
 * it, and the deed. All that counts stands in the API server, so that an operator that is started
 * anew goes on where the last one was.
 */
@NullMarked
package dev.stasis.operator.restore;

import org.jspecify.annotations.NullMarked;
