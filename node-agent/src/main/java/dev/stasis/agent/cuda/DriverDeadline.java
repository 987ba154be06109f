package dev.stasis.agent.cuda;

import java.time.Duration;

/**
 * How long a Checkpoint and a Restore may take before something is wrong. Slowness is never a
 * reason to kill the worker, so these are far off: five times what is expected, at least a minute.
 *
 * @param checkpoint for {@link CudaDriver#checkpoint}
 * @param restore for {@link CudaDriver#restore}
 */
public record DriverDeadline(Duration checkpoint, Duration restore) {

  /** The slower end of what was measured on an H200: 2.6-3.6 GB/s out, 8-9 GB/s in. */
  private static final long BYTES_OUT_PER_MILLI = 2_600_000;

  private static final long BYTES_IN_PER_MILLI = 8_000_000;
  private static final long FACTOR = 5;

  /** Contexts, modules and cuInit (2.7 s on eight GPUs) take their time without any bytes. */
  private static final Duration LEAST = Duration.ofSeconds(60);

  /**
   * @param bytes device memory of the process
   */
  public static DriverDeadline forBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes: wanted 0 or more, found " + bytes);
    }
    return new DriverDeadline(of(bytes, BYTES_OUT_PER_MILLI), of(bytes, BYTES_IN_PER_MILLI));
  }

  private static Duration of(long bytes, long perMilli) {
    Duration expected = Duration.ofMillis(bytes / perMilli);
    Duration allowed = expected.multipliedBy(FACTOR);
    return allowed.compareTo(LEAST) < 0 ? LEAST : allowed;
  }
}
