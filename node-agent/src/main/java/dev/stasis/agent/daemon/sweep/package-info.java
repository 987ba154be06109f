/**
 * Removes artifacts whose object is gone: those that an operator gave up to delete because the
 * agent was silent.
 */
@NullMarked
package dev.stasis.agent.daemon.sweep;

import org.jspecify.annotations.NullMarked;
