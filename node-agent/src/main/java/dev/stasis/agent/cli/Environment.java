package dev.stasis.agent.cli;

import java.time.Clock;

/**
 * What every command works with.
 *
 * @param console where it reads and writes
 * @param clock for times that people read
 * @param interruption what a signal does
 */
record Environment(Console console, Clock clock, Interruption interruption) {}
