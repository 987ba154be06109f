package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.StepTimings;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.operation.OperationType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What the agent counts and times. No name of a pod or an object is a label. */
public final class OperationMetrics {

  private final MeterRegistry registry;

  public OperationMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Watches the GPUs that only a reset or a person can bring back. */
  void quarantined(Supplier<Map<String, String>> fenced) {
    Gauge.builder("stasis.gpu.quarantined", fenced, gpus -> gpus.get().size())
        .strongReference(true)
        .register(registry);
  }

  /** Watches what stands still on the node. */
  void frozen(String node, Clock clock, Supplier<List<Work>> inHand) {
    for (After why : After.values()) {
      Gauge.builder(
              "stasis.frozen.pods",
              inHand,
              works -> works.get().stream().filter(work -> stands(work, why)).count())
          .tag("node", node)
          .tag("why", word(why))
          .strongReference(true)
          .register(registry);
    }
    Gauge.builder("stasis.oldest.frozen", inHand, works -> oldest(works.get(), clock))
        .baseUnit("seconds")
        .strongReference(true)
        .register(registry);
  }

  /** Watches what was left frozen and is tried again. */
  void leftFrozen(Collection<?> tried) {
    Gauge.builder("stasis.left.frozen.pods", tried, Collection::size)
        .strongReference(true)
        .register(registry);
  }

  /** One more try to thaw what was left frozen. */
  void thawTried(String outcome) {
    Counter.builder("stasis.thaw.tries").tag("outcome", outcome).register(registry).increment();
  }

  private static double oldest(List<Work> works, Clock clock) {
    return works.stream()
        .filter(work -> work.kind() == Work.Kind.FREEZE)
        .filter(work -> work.phase() != Work.Phase.PUBLISHING)
        .mapToDouble(work -> Duration.between(work.since(), clock.instant()).toSeconds())
        .max()
        .orElse(0);
  }

  private static boolean stands(Work work, After why) {
    return work.kind() == Work.Kind.FREEZE
        && work.phase() != Work.Phase.PUBLISHING
        && work.after() == why;
  }

  private static String word(After why) {
    return switch (why) {
      case RESUME -> "Checkpoint";
      case SUSPEND -> "Suspend";
      case EVICT -> "Hold";
    };
  }

  /**
   * The steps of one operation.
   *
   * @param path the way that the device memory took
   */
  void steps(OperationType type, String path, StepTimings timings) {
    timings
        .asMap()
        .forEach(
            (step, took) ->
                Timer.builder("stasis.operation.step.duration")
                    .tag("kind", type.word())
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
