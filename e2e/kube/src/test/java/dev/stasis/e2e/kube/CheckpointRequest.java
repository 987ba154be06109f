package dev.stasis.e2e.kube;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;

/** A GpuCheckpoint that somebody applied. */
record CheckpointRequest(Scenario scenario, String name) {

  /** Applies one of that pod; {@code more} are further lines of its spec. */
  static CheckpointRequest apply(Scenario scenario, String name, String pod, String... more) {
    scenario.apply(yaml(name, pod, more));
    return new CheckpointRequest(scenario, name);
  }

  static String yaml(String name, String pod, String... more) {
    StringBuilder yaml =
        new StringBuilder(
            """
            apiVersion: stasis.dev/v1alpha1
            kind: GpuCheckpoint
            metadata:
              name: %s
            spec:
              podName: %s
            """
                .formatted(name, pod));
    for (String line : more) {
      yaml.append("  ").append(line).append('\n');
    }
    return yaml.toString();
  }

  GpuCheckpointStatus status() {
    GpuCheckpoint found = scenario.find(GpuCheckpoint.class, name);
    return found == null || found.getStatus() == null
        ? new GpuCheckpointStatus()
        : found.getStatus();
  }

  /** Waits for a phase; says at once when another end was reached. */
  GpuCheckpointStatus await(CheckpointPhase wanted) {
    scenario.await(
        GpuCheckpoint.class,
        name,
        "is " + wanted,
        found -> {
          if (found.getStatus() == null || found.getStatus().getPhase() == null) {
            return false;
          }
          CheckpointPhase phase = found.getStatus().getPhase();
          if (phase != wanted && phase.isFinal()) {
            throw new AssertionError(
                "wanted %s, found:%n%s".formatted(wanted, Serialization.asYaml(found.getStatus())));
          }
          return phase == wanted;
        });
    return status();
  }

  GpuCheckpointStatus awaitReady() {
    return await(CheckpointPhase.READY);
  }

  /** Waits until it is in any of its last phases, or Ready. */
  GpuCheckpointStatus awaitEnd() {
    scenario.await(
        GpuCheckpoint.class,
        name,
        "is at its end",
        found ->
            found.getStatus() != null
                && found.getStatus().getPhase() != null
                && (found.getStatus().getPhase() == CheckpointPhase.READY
                    || found.getStatus().getPhase().isFinal()));
    return status();
  }

  /** Words of its phases, in order. */
  static List<String> phases(GpuCheckpointStatus status) {
    List<PhaseTime<CheckpointPhase>> phases = status.getPhases();
    return phases == null ? List.of() : phases.stream().map(p -> p.phase().word()).toList();
  }

  static Condition condition(GpuCheckpointStatus status, String type) {
    return conditions(status.getConditions()).stream()
        .filter(condition -> condition.type().equals(type))
        .findFirst()
        .orElse(new Condition(type, Truth.UNKNOWN, "Missing", "", java.time.Instant.EPOCH, null));
  }

  private static List<Condition> conditions(
      @org.jspecify.annotations.Nullable List<Condition> some) {
    return some == null ? List.of() : some;
  }

  static List<Fault> faults(GpuCheckpointStatus status) {
    List<Fault> faults = status.getFaults();
    return faults == null ? List.of() : faults;
  }
}
