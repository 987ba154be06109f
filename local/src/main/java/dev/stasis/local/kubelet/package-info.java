/**
 * The part of a kubelet that bare pods need: init containers, emptyDirs, environment, memory limits
 * and their in-place resize, GPUs, restart policies, exec probes, status, logs in files, deletion
 * with a grace period. Unsupported features are refused by name instead of ignored.
 */
@NullMarked
package dev.stasis.local.kubelet;

import org.jspecify.annotations.NullMarked;
