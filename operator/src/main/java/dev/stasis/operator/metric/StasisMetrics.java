package dev.stasis.operator.metric;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Singleton;
import java.time.Duration;

/** What is counted when something ends. */
@Singleton
public class StasisMetrics {

  /** From what a lock takes to what the largest of machines may need. */
  private static final Duration[] BUCKETS = {
    Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1),
    Duration.ofMillis(2500), Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(20),
    Duration.ofSeconds(40), Duration.ofSeconds(80), Duration.ofMinutes(3), Duration.ofMinutes(6),
    Duration.ofMinutes(12), Duration.ofMinutes(20)
  };

  private final MeterRegistry registry;

  public StasisMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * An object has come to its end.
   *
   * @param outcome its last phase
   * @param reason of its summary condition
   */
  public void ended(String kind, String outcome, String reason) {
    registry
        .counter("stasis_operations", "kind", kind, "outcome", outcome, "reason", reason)
        .increment();
  }

  /** A step of the agent is done. */
  public void step(String kind, String step, String path, Duration took) {
    timer("stasis_operation_step_duration", "kind", kind, "step", step, "path", path).record(took);
  }

  /** A workload stood still for so long, and goes on. */
  public void frozen(Duration time) {
    timer("stasis_frozen_duration").record(time);
  }

  /** A workload that was moved stood still for so long. */
  public void downtime(Duration time) {
    timer("stasis_migration_downtime").record(time);
  }

  /** A restored workload was proven so long after its holder had started. */
  public void proven(Duration time) {
    timer("stasis_restore_proof").record(time);
  }

  /** A workload was started from its image in place of a restore. */
  public void coldStart() {
    registry.counter("stasis_cold_starts").increment();
  }

  /** A workload did not survive. */
  public void workloadLost() {
    registry.counter("stasis_workloads_lost").increment();
  }

  /**
   * A pod that had yielded is back.
   *
   * @param devices how many GPUs it has
   * @param away for how long it had none
   */
  public void preempted(String namespace, long devices, Duration away) {
    registry
        .counter("stasis_preempted_gpu_seconds", "namespace", namespace)
        .increment(devices * away.toMillis() / 1000.0);
  }

  private Timer timer(String name, String... tags) {
    return Timer.builder(name).tags(tags).serviceLevelObjectives(BUCKETS).register(registry);
  }
}
