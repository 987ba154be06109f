/** What programs say of their work that are no application of the agent's framework. */
@NullMarked
package dev.stasis.agent.log;

import org.jspecify.annotations.NullMarked;
