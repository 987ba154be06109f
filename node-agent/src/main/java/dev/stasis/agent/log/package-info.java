/** Logging of the programs that are not applications of the agent's framework. */
@NullMarked
package dev.stasis.agent.log;

import org.jspecify.annotations.NullMarked;
