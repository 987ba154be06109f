package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.PhaseTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A GpuCheckpoint that a scenario applied. */
record CheckpointRequest(Scenario scenario, String name)
    implements Request<GpuCheckpoint, GpuCheckpointStatus, CheckpointPhase> {

  /** Applies one of that pod; {@code more} are further lines of its spec. */
  static CheckpointRequest apply(Scenario scenario, String name, String pod, String... more) {
    scenario.apply(yaml(name, pod, more));
    return new CheckpointRequest(scenario, name);
  }

  /** Returns the manifest of an import; {@code from} are further fields of importFrom. */
  static String imported(String name, String pod, String from, String... more) {
    String source = "importFrom: {podName: %s, %s}".formatted(pod, from);
    return Request.yaml(GpuCheckpoint.class, name, source, more);
  }

  static String yaml(String name, String pod, String... more) {
    return Request.yaml(GpuCheckpoint.class, name, "podRef: {name: " + pod + "}", more);
  }

  @Override
  public Class<GpuCheckpoint> kind() {
    return GpuCheckpoint.class;
  }

  @Override
  public GpuCheckpointStatus unseen() {
    return new GpuCheckpointStatus();
  }

  @Override
  public @Nullable CheckpointPhase phase(GpuCheckpointStatus status) {
    return status.getPhase();
  }

  /** A checkpoint that is Ready can still be deleted or lose its artifact. */
  @Override
  public boolean isOver(CheckpointPhase phase) {
    return phase == CheckpointPhase.READY || phase.isFinal();
  }

  GpuCheckpointStatus awaitReady() {
    return await(CheckpointPhase.READY);
  }

  /** Words of its phases, in order. */
  static List<String> phases(GpuCheckpointStatus status) {
    List<PhaseTime<CheckpointPhase>> phases = status.getPhases();
    return phases == null ? List.of() : phases.stream().map(p -> p.phase().value()).toList();
  }

  static Condition condition(GpuCheckpointStatus status, String type) {
    return Request.condition(status.getConditions(), type);
  }

  static List<Fault> faults(GpuCheckpointStatus status) {
    List<Fault> faults = status.getFaults();
    return faults == null ? List.of() : faults;
  }
}
