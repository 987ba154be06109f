/**
 * Enough of a kubelet for bare pods: init containers, emptyDirs, environment, memory limits and
 * their resize in place, GPUs, restart policies, exec probes, status, logs in files, deletion with
 * grace. What it cannot do it refuses by name instead of leaving it out.
 */
@NullMarked
package dev.stasis.local.kubelet;

import org.jspecify.annotations.NullMarked;
