package dev.stasis.operator.metric;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Objects;

/** Metrics of finished requests and events. */
@Singleton
public class StasisMetrics {

  /** From the duration of a lock to the time that the largest machines may need. */
  private static final Duration[] BUCKETS = {
    Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1),
    Duration.ofMillis(2500), Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(20),
    Duration.ofSeconds(40), Duration.ofSeconds(80), Duration.ofMinutes(3), Duration.ofMinutes(6),
    Duration.ofMinutes(12), Duration.ofMinutes(20)
  };

  /** From a small model to eight GPUs with 141 GB each. */
  private static final double[] SIZES = {
    1L << 30, 4L << 30, 16L << 30, 64L << 30, 256L << 30, 1L << 40, 2L << 40
  };

  private final MeterRegistry registry;
  private final Counter coldStarts;
  private final Counter workloadsLost;
  private final Timer frozen;
  private final Timer downtime;
  private final Timer proof;
  private final DistributionSummary checkpointSize;

  /**
   * Registers the counters that alerts use at the start: an increase is visible only from an
   * initial zero.
   */
  public StasisMetrics(MeterRegistry registry) {
    this.registry = registry;
    coldStarts = registry.counter("stasis_cold_starts");
    workloadsLost = registry.counter("stasis_workloads_lost");
    frozen = timer("stasis_frozen_duration");
    downtime = timer("stasis_migration_downtime");
    proof = timer("stasis_restore_proof");
    checkpointSize =
        DistributionSummary.builder("stasis_checkpoint_size")
            .baseUnit("bytes")
            .serviceLevelObjectives(SIZES)
            .register(registry);
  }

  /**
   * Counts a finished request.
   *
   * @param request in its last phase
   * @param outcome the last phase
   * @param reason reason of its summary condition
   */
  public void ended(HasMetadata request, String outcome, String reason) {
    registry
        .counter(
            "stasis_operations",
            "namespace",
            Objects.requireNonNullElse(request.getMetadata().getNamespace(), ""),
            "kind",
            request.getKind(),
            "outcome",
            outcome,
            "reason",
            reason)
        .increment();
  }

  /** Records the freeze time of a checkpoint. */
  public void frozen(Duration time) {
    frozen.record(time);
  }

  /** Records the downtime of a workload that was migrated. */
  public void downtime(Duration time) {
    downtime.record(time);
  }

  /** Records the time from the start of the target container to the verification of a restore. */
  public void proven(Duration time) {
    proof.record(time);
  }

  /** Records the size of the artifact of a checkpoint that became Ready. */
  public void stored(long bytes) {
    checkpointSize.record(bytes);
  }

  /** A workload had a cold start in place of a restore. */
  public void coldStart() {
    coldStarts.increment();
  }

  /** A workload did not survive. */
  public void workloadLost() {
    workloadsLost.increment();
  }

  /**
   * A preempted pod is restored.
   *
   * @param devices number of its GPUs
   * @param away how long it had none
   */
  public void preempted(String namespace, long devices, Duration away) {
    registry
        .counter("stasis_preempted_gpu_seconds", "namespace", namespace)
        .increment(devices * away.toMillis() / 1000.0);
  }

  private Timer timer(String name) {
    return Timer.builder(name).serviceLevelObjectives(BUCKETS).register(registry);
  }
}
