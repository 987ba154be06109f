/**
 * The agent as a daemon of its node: assembles its parts, starts them with Quarkus and stops them
 * with it.
 */
@NullMarked
package dev.stasis.agent.daemon;

import org.jspecify.annotations.NullMarked;
