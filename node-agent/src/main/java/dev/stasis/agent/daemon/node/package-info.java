/** The agent's report on its node: observed, tested, and published as the GpuNode. */
@NullMarked
package dev.stasis.agent.daemon.node;

import org.jspecify.annotations.NullMarked;
