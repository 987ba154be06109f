/** The agent tries on itself what it will do to workloads, and measures it. */
@NullMarked
package dev.stasis.agent.daemon.selftest;

import org.jspecify.annotations.NullMarked;
