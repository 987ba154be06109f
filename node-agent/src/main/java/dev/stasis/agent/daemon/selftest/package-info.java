/** The agent's self-test of its actions on workloads, with measurements. */
@NullMarked
package dev.stasis.agent.daemon.selftest;

import org.jspecify.annotations.NullMarked;
