/** What the agent says of its node: found out, tried, and published as the GpuNode. */
@NullMarked
package dev.stasis.agent.daemon.node;

import org.jspecify.annotations.NullMarked;
