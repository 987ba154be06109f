package dev.stasis.api.v1beta1.node;

import dev.stasis.api.v1beta1.common.DataPath;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The expected freeze time of a workload, from its size and the rates of its node.
 *
 * @param gpuBytes device memory that the driver copies
 * @param hostBytes the rest of its memory
 * @param layerBytes files that are packed while it is frozen
 * @param path the data path of the device memory
 * @param writes whether an artifact is written; a suspend in memory writes none
 */
public record ExpectedFreeze(
    long gpuBytes, long hostBytes, long layerBytes, DataPath path, boolean writes) {

  /** For a node without measurements: the slow end of the rates seen on an H200. */
  private static final long GPU_CHECKPOINT = 2_600_000_000L;

  private static final long GPU_RESTORE = 8_000_000_000L;
  private static final long MOVE = 10_000_000_000L;
  private static final long WRITE = 1_600_000_000L;

  /** criu copies pages with one thread, at this rate even if the disk is faster. */
  private static final long CRIU = 2_700_000_000L;

  /** Lock, stop, dump of the small remainder, and the checks in between. */
  private static final Duration FIXED = Duration.ofSeconds(1);

  /**
   * From the lock until the workload runs again. In low-memory mode, the memory is copied back into
   * the process too; that is not counted.
   */
  public Duration frozen(@Nullable SelfTest measured) {
    SelfTest node = measured == null ? SelfTest.none() : measured;
    Duration total =
        FIXED
            .plus(at(gpuBytes, node.gpuCheckpointBytesPerSecond(), GPU_CHECKPOINT))
            .plus(at(gpuBytes, node.gpuRestoreBytesPerSecond(), GPU_RESTORE));
    if (!writes) {
      return total;
    }
    total = total.plus(at(layerBytes, node.writeBytesPerSecond(), WRITE));
    return path == DataPath.CRIU
        ? total.plus(
            at(
                gpuBytes + hostBytes,
                Math.min(CRIU, rate(node.writeBytesPerSecond(), WRITE)),
                WRITE))
        : total
            .plus(at(gpuBytes, node.moveOutBytesPerSecond(), MOVE))
            .plus(at(hostBytes, CRIU, CRIU));
  }

  private static Duration at(long bytes, @Nullable Long bytesPerSecond, long otherwise) {
    return Duration.ofMillis((long) Math.ceil(bytes * 1000.0 / rate(bytesPerSecond, otherwise)));
  }

  private static long rate(@Nullable Long bytesPerSecond, long otherwise) {
    return bytesPerSecond == null || bytesPerSecond <= 0 ? otherwise : bytesPerSecond;
  }
}
