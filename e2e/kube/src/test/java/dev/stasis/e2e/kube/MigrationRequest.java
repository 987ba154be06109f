package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A GpuMigration that a scenario applied. */
record MigrationRequest(Scenario scenario, String name)
    implements Request<GpuMigration, GpuMigrationStatus, MigrationPhase> {

  /** Applies one of that pod; {@code more} are further lines of its spec. */
  static MigrationRequest apply(Scenario scenario, String name, String pod, String... more) {
    scenario.apply(yaml(name, pod, more));
    return new MigrationRequest(scenario, name);
  }

  static String yaml(String name, String pod, String... more) {
    return Request.yaml(GpuMigration.class, name, "podRef: {name: " + pod + "}", more);
  }

  @Override
  public Class<GpuMigration> kind() {
    return GpuMigration.class;
  }

  @Override
  public GpuMigrationStatus unseen() {
    return new GpuMigrationStatus();
  }

  @Override
  public @Nullable MigrationPhase phase(GpuMigrationStatus status) {
    return status.getPhase();
  }

  void cancel() {
    scenario.kubectl(
        "patch",
        "gmig",
        name,
        "--type=merge",
        "--patch",
        "{\"spec\":{\"options\":{\"cancel\":true}}}");
  }

  /**
   * Waits until it has entered that phase or a later one, or is over. The operator may see the end
   * of a phase at its first look, and then enters the next one at once.
   */
  void awaitEntered(MigrationPhase wanted) {
    awaitStatus(
        "has entered " + wanted,
        status ->
            isOver(status)
                || status.getPhases() != null
                    && status.getPhases().stream()
                        .anyMatch(it -> it.phase().compareTo(wanted) >= 0));
  }

  /**
   * Waits until the workload is frozen, and so has printed all that it prints here. Its pod may be
   * gone by the time that is noticed.
   */
  Workload awaitMoving(Workload source) {
    try (KeptLog log = KeptLog.follow(scenario, source.name())) {
      awaitEntered(MigrationPhase.TRANSFERRING);
      return moved(source, log);
    }
  }

  /** The target of a source that is frozen, or gone after that: then {@code log} has its words. */
  Workload moved(Workload source, KeptLog log) {
    List<String> printed = new ArrayList<>();
    scenario.until(
        "steps of pod %s, or its end".formatted(source.name()),
        () -> {
          printed.addAll(source.steps());
          return !printed.isEmpty() || scenario.findPod(source.name()) == null;
        });
    return source.broughtBackAs(pod(status()), printed.isEmpty() ? log.lines() : printed);
  }

  /** Waits until it is over; a lost node is noticed late, and a pod that fits nowhere waits. */
  GpuMigrationStatus awaitLateEnd() {
    return awaitStatus("is over", this::isOver, Scenario.PATIENCE.multipliedBy(3));
  }

  /** Waits until it is over, or until it waits for a node. */
  void awaitEndOrNoNode() {
    awaitStatus(
        "is over, or waits for a node",
        status -> isOver(status) || "NoNodeFits".equals(status.getReason()));
  }

  private boolean isOver(GpuMigrationStatus status) {
    return status.getPhase() != null && status.getPhase().isFinal();
  }

  /** Words of its phases, in order. */
  static List<String> phases(GpuMigrationStatus status) {
    List<PhaseTime<MigrationPhase>> phases = status.getPhases();
    return phases == null ? List.of() : phases.stream().map(it -> it.phase().value()).toList();
  }

  static Condition condition(GpuMigrationStatus status, String type) {
    return Request.condition(status.getConditions(), type);
  }

  /** Returns the name of the pod in which the workload runs now. */
  static String pod(GpuMigrationStatus status) {
    if (status.getTarget() == null) {
      throw new AssertionError("no target in " + Serialization.asYaml(status));
    }
    return status.getTarget().name();
  }
}
