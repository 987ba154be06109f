/**
 * The agent as a daemon of its node: puts its parts together, starts them when Quarkus starts and
 * ends them when it ends.
 */
@NullMarked
package dev.stasis.agent.daemon;

import org.jspecify.annotations.NullMarked;
