/**
 * What /proc says, as values. A process is always its pid and its start time, so that a reused pid
 * is never taken for the process that had it before.
 */
@NullMarked
package dev.stasis.agent.process;

import org.jspecify.annotations.NullMarked;
