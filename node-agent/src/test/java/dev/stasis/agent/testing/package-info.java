/**
 * Real containers over simulated GPUs, for tests that promise something about running workloads.
 */
@NullMarked
package dev.stasis.agent.testing;

import org.jspecify.annotations.NullMarked;
