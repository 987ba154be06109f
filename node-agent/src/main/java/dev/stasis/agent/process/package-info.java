/**
 * Reads /proc into values. A process is always identified by pid and start time, so that a process
 * with a reused pid is never mistaken for the earlier one.
 */
@NullMarked
package dev.stasis.agent.process;

import org.jspecify.annotations.NullMarked;
