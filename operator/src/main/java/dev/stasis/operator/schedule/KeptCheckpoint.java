package dev.stasis.operator.schedule;

import java.time.Instant;

/**
 * A checkpoint that a schedule took.
 *
 * @param name of the GpuCheckpoint
 * @param pod whose it is
 * @param time when it was taken
 * @param bytes size of its artifact
 * @param good whether it could be restored now
 * @param inUse whether something needs it, or it is still being taken
 */
public record KeptCheckpoint(
    String name, String pod, Instant time, long bytes, boolean good, boolean inUse) {}
