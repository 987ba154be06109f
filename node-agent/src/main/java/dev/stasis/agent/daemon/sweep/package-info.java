/**
 * Removes artifacts without an object: those that an operator gave up deleting because the agent
 * was silent.
 */
@NullMarked
package dev.stasis.agent.daemon.sweep;

import org.jspecify.annotations.NullMarked;
