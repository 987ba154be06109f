package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StepTimings;
import dev.stasis.api.v1beta1.operation.OperationType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** The agent's counters and timers. Names of pods and objects are not labels. */
public final class OperationMetrics {

  private static final List<String> THAW_OUTCOMES =
      List.of("Running", "Frozen", "Ended", "Unknown", "Busy", "PodDeleted", "Unreachable");

  private final MeterRegistry registry;

  /** Registers the counters at the start: an increase is visible only from an initial zero. */
  public OperationMetrics(MeterRegistry registry) {
    this.registry = registry;
    THAW_OUTCOMES.forEach(this::thawTries);
  }

  /**
   * Publishes the number of the node's workloads that were left frozen and are being thawed again.
   */
  void leftFrozen(String node, Collection<?> tried) {
    Gauge.builder("stasis.left.frozen.pods", tried, Collection::size)
        .tag("node", node)
        .strongReference(true)
        .register(registry);
  }

  /** Counts an attempt to thaw a workload that was left frozen. */
  void thawTried(String outcome) {
    thawTries(outcome).increment();
  }

  private Counter thawTries(String outcome) {
    return Counter.builder("stasis.thaw.tries").tag("outcome", outcome).register(registry);
  }

  /**
   * The steps of one operation.
   *
   * @param path the data path of the device memory
   */
  void steps(OperationType type, String path, StepTimings timings) {
    timings
        .asMap()
        .forEach(
            (step, took) ->
                Timer.builder("stasis.operation.step.duration")
                    .tag("kind", type.value())
                    .tag("step", step)
                    .tag("path", path)
                    // From a driver call to the publication of a terabyte.
                    .serviceLevelObjectives(
                        Duration.ofMillis(100),
                        Duration.ofMillis(500),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60),
                        Duration.ofMinutes(5),
                        Duration.ofMinutes(20))
                    .register(registry)
                    .record(took));
  }
}
