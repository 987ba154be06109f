package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.node.SelfTest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The expected freeze time of a workload, from its size and its node's measurements.
 *
 * @param gpuBytes device memory
 * @param hostBytes the rest of its memory
 * @param layerBytes files that are packed while it is frozen
 * @param byCriu whether criu moves the device memory too
 * @param writes whether an artifact is written; a suspend in memory writes none
 */
record ExpectedFreeze(
    long gpuBytes, long hostBytes, long layerBytes, boolean byCriu, boolean writes) {

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
  Duration frozen(SelfTest node) {
    Duration total =
        FIXED
            .plus(at(gpuBytes, node.getGpuCheckpointBytesPerSecond(), GPU_CHECKPOINT))
            .plus(at(gpuBytes, node.getGpuRestoreBytesPerSecond(), GPU_RESTORE));
    if (!writes) {
      return total;
    }
    total = total.plus(at(layerBytes, node.getWriteBytesPerSecond(), WRITE));
    Long measured = node.getWriteBytesPerSecond();
    long write = Math.min(CRIU, measured == null || measured <= 0 ? WRITE : measured);
    if (byCriu) {
      return total.plus(at(gpuBytes + hostBytes, write, write));
    }
    return total
        .plus(at(gpuBytes, node.getMoveOutBytesPerSecond(), MOVE))
        .plus(at(gpuBytes, node.getMoveInBytesPerSecond(), MOVE))
        .plus(at(hostBytes, write, write));
  }

  private static Duration at(long bytes, @Nullable Long bytesPerSecond, long otherwise) {
    long rate = bytesPerSecond == null || bytesPerSecond <= 0 ? otherwise : bytesPerSecond;
    return Duration.ofMillis((long) Math.ceil(bytes * 1000.0 / rate));
  }
}
