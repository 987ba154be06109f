package dev.stasis.operator.explain;

import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.node.SelfTest;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The expected freeze time of a workload, from its size and the measurements of its node.
 *
 * @param gpuBytes device memory
 * @param hostBytes the rest of its memory
 * @param path the data path of the device memory
 * @param writes whether an artifact is written; a suspend in memory writes none
 */
public record Expectation(long gpuBytes, long hostBytes, DataPath path, boolean writes) {

  /** For a node without measurements: the slow end of the rates seen on an H200. */
  private static final long GPU_CHECKPOINT = 2_600_000_000L;

  private static final long GPU_RESTORE = 8_000_000_000L;
  private static final long MOVE = 10_000_000_000L;
  private static final long WRITE = 1_600_000_000L;

  /** criu copies pages with one thread, whatever the disk's rate is. */
  private static final long CRIU = 2_700_000_000L;

  /** Lock, stop, dump of the small remainder, and the checks in between. */
  private static final Duration FIXED = Duration.ofSeconds(1);

  /** From the lock until the workload runs again. */
  public Duration frozen(@Nullable SelfTest measured) {
    SelfTest node = Objects.requireNonNullElseGet(measured, SelfTest::new);
    Duration total =
        FIXED
            .plus(at(gpuBytes, node.getGpuCheckpointBytesPerSecond(), GPU_CHECKPOINT))
            .plus(at(gpuBytes, node.getGpuRestoreBytesPerSecond(), GPU_RESTORE));
    if (!writes) {
      return total;
    }
    long write = Objects.requireNonNullElse(node.getWriteBytesPerSecond(), WRITE);
    if (path != DataPath.MOVER) {
      return total.plus(at(gpuBytes + hostBytes, Math.min(write, CRIU), CRIU));
    }
    return total
        .plus(at(gpuBytes, node.getMoveOutBytesPerSecond(), MOVE))
        .plus(at(gpuBytes, node.getMoveInBytesPerSecond(), MOVE))
        .plus(at(hostBytes, Math.min(write, CRIU), CRIU));
  }

  private static Duration at(long bytes, @Nullable Long bytesPerSecond, long otherwise) {
    long rate = bytesPerSecond == null || bytesPerSecond <= 0 ? otherwise : bytesPerSecond;
    return Duration.ofMillis((long) Math.ceil(bytes * 1000.0 / rate));
  }
}
