/**
 * When checkpoints are due, and which of them are kept: what a GpuCheckpointSchedule asks for,
 * decided without a cluster.
 */
@NullMarked
package dev.stasis.operator.schedule;

import org.jspecify.annotations.NullMarked;
