package dev.stasis.e2e.kube;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;

/** A GpuMigration that somebody applied. */
record MigrationRequest(Scenario scenario, String name) {

  /** Applies one of that pod; {@code more} are further lines of its spec. */
  static MigrationRequest apply(Scenario scenario, String name, String pod, String... more) {
    scenario.apply(yaml(name, pod, more));
    return new MigrationRequest(scenario, name);
  }

  static String yaml(String name, String pod, String... more) {
    StringBuilder yaml =
        new StringBuilder(
            """
            apiVersion: stasis.dev/v1alpha1
            kind: GpuMigration
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

  GpuMigrationStatus status() {
    GpuMigration found = scenario.find(GpuMigration.class, name);
    return found == null || found.getStatus() == null
        ? new GpuMigrationStatus()
        : found.getStatus();
  }

  void cancel() {
    scenario.kubectl(
        "patch", "gmig", name, "--type=merge", "--patch", "{\"spec\":{\"cancel\":true}}");
  }

  /** Waits until it has entered that phase, or is past it. */
  void awaitEntered(MigrationPhase wanted) {
    scenario.await(
        GpuMigration.class,
        name,
        "has entered " + wanted,
        found ->
            found.getStatus() != null
                && found.getStatus().getPhases() != null
                && (found.getStatus().getPhases().stream().anyMatch(it -> it.phase() == wanted)
                    || isOver(found)));
  }

  /** Waits until the workload is frozen, and so has printed all that it prints here. */
  Workload awaitMoving(Workload source) {
    awaitEntered(MigrationPhase.TRANSFERRING);
    return source.broughtBackAs(pod(status()));
  }

  /** Waits for an end; says at once when another one was reached. */
  GpuMigrationStatus await(MigrationPhase wanted) {
    GpuMigrationStatus status = awaitEnd();
    if (status.getPhase() != wanted) {
      throw new AssertionError(
          "wanted %s, found:%n%s".formatted(wanted, Serialization.asYaml(status)));
    }
    return status;
  }

  /** Waits until it is over, however. */
  GpuMigrationStatus awaitEnd() {
    scenario.await(GpuMigration.class, name, "is at its end", MigrationRequest::isOver);
    return status();
  }

  /** Waits until it is over, or until it waits for a node. */
  void awaitEndOrNoNode() {
    scenario.await(
        GpuMigration.class,
        name,
        "is at its end, or waits for a node",
        found ->
            isOver(found)
                || found.getStatus() != null && "NoNodeFits".equals(found.getStatus().getReason()));
  }

  private static boolean isOver(GpuMigration found) {
    return found.getStatus() != null
        && found.getStatus().getPhase() != null
        && found.getStatus().getPhase().isFinal();
  }

  /** Words of its phases, in order. */
  static List<String> phases(GpuMigrationStatus status) {
    List<PhaseTime<MigrationPhase>> phases = status.getPhases();
    return phases == null ? List.of() : phases.stream().map(it -> it.phase().word()).toList();
  }

  static Condition condition(GpuMigrationStatus status, String type) {
    List<Condition> conditions = status.getConditions();
    return (conditions == null ? List.<Condition>of() : conditions)
        .stream()
            .filter(condition -> condition.type().equals(type))
            .findFirst()
            .orElse(new Condition(type, Truth.UNKNOWN, "Missing", "", Instant.EPOCH, null));
  }

  /** Name of the pod in which the workload runs now. */
  static String pod(GpuMigrationStatus status) {
    if (status.getTarget() == null) {
      throw new AssertionError("no target in " + Serialization.asYaml(status));
    }
    return status.getTarget().name();
  }
}
