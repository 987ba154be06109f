/**
 * The agent's half of a GpuNodeOperation: claimed, journalled, carried out by the engine, reported.
 * What it promises is written in {@code docs/operations.md}.
 */
@NullMarked
package dev.stasis.agent.daemon.operation;

import org.jspecify.annotations.NullMarked;
