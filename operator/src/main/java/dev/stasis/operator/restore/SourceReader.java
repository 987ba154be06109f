package dev.stasis.operator.restore;

import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads a GpuCheckpoint for a restore. */
final class SourceReader {

  private final KubernetesSerialization serialization;

  SourceReader(KubernetesSerialization serialization) {
    this.serialization = serialization;
  }

  /** Reads it; a checkpoint that is not Ready is waited for, whatever the reason. */
  Source read(GpuRestore restore, Optional<GpuCheckpoint> found) {
    String name = restore.getSpec().checkpointName();
    String namespace = restore.getMetadata().getNamespace();
    if (found.isEmpty()) {
      return waiting("GpuCheckpoint " + name + ": expected one in namespace " + namespace, "none");
    }
    GpuCheckpoint checkpoint = found.get();
    String wanted = "GpuCheckpoint " + name + ": expected Ready";
    RestorePhase restored = restore.getStatus() == null ? null : restore.getStatus().getPhase();
    // A deletion of the checkpoint waits for restores that were there before it.
    boolean holds = restored != null;
    boolean waits = restored == null || restored == RestorePhase.PENDING;
    if (checkpoint.getMetadata().getDeletionTimestamp() != null && !holds) {
      return waiting(wanted, "one that is being deleted");
    }
    List<String> newer = UnrecognizedValues.in(checkpoint);
    if (!newer.isEmpty() && waits) {
      return waiting(
          "GpuCheckpoint " + name + ": expected values that this operator knows",
          "those of a newer release in " + String.join(", ", newer));
    }
    GpuCheckpointStatus status = checkpoint.getStatus();
    Optional<Condition> ready = Conditions.of(status).find(ConditionType.READY);
    if (status == null || ready.filter(it -> it.status() == ConditionValue.TRUE).isEmpty()) {
      String phase =
          status == null || status.getPhase() == null ? "nothing yet" : status.getPhase().value();
      String why = ready.map(it -> it.message().isBlank() ? "" : ": " + it.message()).orElse("");
      return waiting(wanted, phase + why);
    }
    Conditions conditions = Conditions.of(status);
    if (waits && conditions.isDamaged()) {
      String sentence =
          conditions.find(ConditionType.RESTORABLE).map(Condition::message).orElse("");
      return new Source.Never(
          fault(
              Reason.ARTIFACT_DAMAGED,
              "checkpointName",
              "GpuCheckpoint "
                  + name
                  + ": expected an intact artifact, got a damaged one: "
                  + sentence));
    }
    try {
      return ready(restore, checkpoint, status);
    } catch (IllegalArgumentException e) {
      String sentence = "GpuCheckpoint " + name + ": " + e.getMessage();
      return new Source.Never(fault(Reason.NO_ARTIFACT, "checkpointRef", sentence));
    }
  }

  private Source ready(GpuRestore restore, GpuCheckpoint checkpoint, GpuCheckpointStatus status) {
    ArtifactStatus artifact = said("status.artifact", status.getArtifact());
    String location = said("status.artifact.location", artifact.getLocation());
    said("status.artifact.store", artifact.getStore());
    said("status.artifact.sha256", artifact.getSha256());
    String namespace = restore.getMetadata().getNamespace();
    if (!location.startsWith(namespace + "/")) {
      return new Source.Never(
          fault(
              Reason.OTHER_NAMESPACE,
              "status.artifact.location",
              "artifact: expected one of namespace " + namespace + ", got " + location));
    }
    TcpConnections tcp =
        Objects.requireNonNullElse(
            restore.getSpec().getOptions().getTcpConnections(),
            checkpoint.getSpec().getOptions().getTcpConnections());
    List<Fault> obstacles = artifact.obstacles(tcp);
    if (!obstacles.isEmpty()) {
      return new Source.Never(
          fault(
              Reason.NOT_PORTABLE,
              "checkpointRef",
              "GpuCheckpoint %s cannot be restored in another pod: %s"
                  .formatted(
                      checkpoint.getMetadata().getName(),
                      obstacles.stream().map(Fault::message).collect(Collectors.joining("; ")))));
    }
    Pod pod =
        serialization.convertValue(said("status.podTemplate", status.getPodTemplate()), Pod.class);
    pod.getMetadata().setNamespace(namespace);
    List<String> containers =
        pod.getSpec().getContainers().stream().map(Container::getName).toList();
    String container =
        Objects.requireNonNullElse(
            said("status.pod", status.getPod()).container(), containers.get(0));
    if (!containers.contains(container)) {
      throw new IllegalArgumentException(
          "status.pod.container: expected one of " + containers + ", got " + container);
    }
    List<String> argv = Objects.requireNonNullElse(status.getArgv(), List.of());
    if (argv.isEmpty() && CommandLine.of(pod.getSpec(), container).needsImage()) {
      throw new IllegalArgumentException("status.argv: expected a command line, got none");
    }
    String text =
        said(
            "status.hardware.fingerprint",
            said("status.hardware", status.getHardware()).fingerprint());
    Fingerprint fingerprint = Fingerprint.parse(text);
    said(
        "status.hardware.fingerprint gpu.count",
        fingerprint.value(Property.GPU_COUNT).orElse(null));
    return new Source.Ready(
        checkpoint,
        artifact,
        said("status.artifact.image", artifact.getImage()),
        pod,
        container,
        argv,
        fingerprint);
  }

  private static <T> T said(String property, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException(property + ": expected a value, got none");
    }
    return value;
  }

  private static Source waiting(String wanted, String found) {
    return new Source.NotYet(Reason.WAITING_FOR_CHECKPOINT, wanted + ", got " + found);
  }

  private static Fault fault(Reason reason, String property, String sentence) {
    return Fault.of(reason.value(), property, sentence);
  }
}
