package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Converts the engine's steps to the durations of the API. */
final class Timings {

  private final Map<String, Duration> steps;

  Timings(Map<String, Duration> steps) {
    this.steps = Map.copyOf(steps);
  }

  /**
   * For a freeze that has ended, or with a workload that is still frozen.
   *
   * @param suspended whether its memory has left the GPU, too, if a keeper had taken it: a keeper
   *     holds the memory of a workload that waits for its eviction or migration
   */
  CheckpointTimings freeze(
      CheckpointOutcome.Figures figures, boolean suspended, Duration waited, Duration hooks) {
    CheckpointTimings timings = new CheckpointTimings();
    timings.setWaitedMilliseconds(waited.toMillis());
    timings.setHooksMilliseconds(hooks.isZero() ? null : Long.valueOf(hooks.toMillis()));
    timings.setLockMilliseconds(of("lock"));
    timings.setGpuCheckpointMilliseconds(of("gpu-checkpoint"));
    timings.setMoveMilliseconds(of("offload", "move", "copied"));
    timings.setDumpMilliseconds(of("stop", "dump", "tidy"));
    timings.setLayerMilliseconds(of("layer"));
    timings.setStoreMilliseconds(of("publish"));
    timings.setFillMilliseconds(of("fill", "reload"));
    timings.setResumeMilliseconds(of("continue", "gpu-restore", "unlock"));
    Duration frozen = figures.frozen();
    if (!frozen.isZero()) {
      timings.setFrozenMilliseconds(frozen.toMillis());
      timings.setFrozen(new HumanDuration(frozen).text());
      long known =
          sum(
              of("lock"),
              of("gpu-checkpoint"),
              of("offload", "stop", "move", "dump", "tidy", "layer", "copied"),
              of("fill", "reload"),
              of("continue", "gpu-restore", "unlock"));
      timings.setUnaccountedMilliseconds(Math.max(0, frozen.toMillis() - known));
    } else if (steps.containsKey("gpu-checkpoint")
        && (suspended || PathTaken.of(figures.path()).path() != DataPath.DIRECT)) {
      timings.setFreedMilliseconds(sum(of("offload"), of("lock"), of("gpu-checkpoint")));
    }
    return timings;
  }

  /**
   * For a workload that was verified to run.
   *
   * @param sinceStart since the holder was started
   */
  RestoreTimings restore(Duration took, Optional<Duration> sinceStart) {
    RestoreTimings timings = new RestoreTimings();
    timings.setTookMilliseconds(sinceStart.map(Duration::toMillis).orElse(null));
    timings.setLayerMilliseconds(of("unpack"));
    timings.setRestoreMilliseconds(of("criu-restore"));
    timings.setFillMilliseconds(of("fill", "reload"));
    timings.setGpuRestoreMilliseconds(of("continue", "gpu-restore", "unlock"));
    timings.setProofMilliseconds(took.toMillis());
    timings.setUnaccountedMilliseconds(
        Math.max(
            0,
            took.toMillis()
                - sum(of("unpack"), of("criu-restore"), of("fill", "reload"))
                - sum(of("continue", "gpu-restore", "unlock"), of("verify"), of("prove"))));
    return timings;
  }

  private @Nullable Long of(String... names) {
    Long total = null;
    for (String name : names) {
      Duration took = steps.get(name);
      if (took != null) {
        total = (total == null ? 0 : total) + took.toMillis();
      }
    }
    return total;
  }

  private static long sum(@Nullable Long... parts) {
    long total = 0;
    for (Long part : parts) {
      total += part == null ? 0 : part;
    }
    return total;
  }
}
