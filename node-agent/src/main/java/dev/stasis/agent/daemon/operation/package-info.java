/**
 * The agent's side of a GpuNodeOperation: claim, journal, execution by the engine, report. Its
 * guarantees are in {@code docs/operations.md}.
 */
@NullMarked
package dev.stasis.agent.daemon.operation;

import org.jspecify.annotations.NullMarked;
