package dev.stasis.agent.cuda;

import java.time.Duration;

/**
 * Deadlines of a Checkpoint and a Restore. Slowness is never a reason to kill the worker, so they
 * are generous: five times the expected duration, at least a minute.
 *
 * @param checkpoint for {@link CudaDriver#checkpoint}
 * @param restore for {@link CudaDriver#restore}
 */
public record DriverDeadline(Duration checkpoint, Duration restore) {

  /** The lower end of the rates measured on an H200: 2.6-3.6 GB/s out, 8-9 GB/s in. */
  private static final long BYTES_OUT_PER_MILLI = 2_600_000;

  private static final long BYTES_IN_PER_MILLI = 8_000_000;
  private static final long FACTOR = 5;

  /** Contexts, modules and cuInit (2.7 s on eight GPUs) take time independently of the size. */
  private static final Duration LEAST = Duration.ofSeconds(60);

  /**
   * @param bytes device memory of the process
   */
  public static DriverDeadline forBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes: expected 0 or more, got " + bytes);
    }
    return new DriverDeadline(of(bytes, BYTES_OUT_PER_MILLI), of(bytes, BYTES_IN_PER_MILLI));
  }

  private static Duration of(long bytes, long perMilli) {
    Duration expected = Duration.ofMillis(bytes / perMilli);
    Duration allowed = expected.multipliedBy(FACTOR);
    return allowed.compareTo(LEAST) < 0 ? LEAST : allowed;
  }
}
