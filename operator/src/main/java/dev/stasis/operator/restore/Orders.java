package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.common.Tcp;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.RestoreOrder;
import dev.stasis.operator.operation.RequesterKind;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** What the agent is told. */
final class Orders {

  /** On whose behalf it is. */
  ObjectReference requester(GpuRestore restore) {
    ObjectMeta metadata = restore.getMetadata();
    return new ObjectReference(
        RequesterKind.RESTORE.kind(),
        metadata.getNamespace(),
        metadata.getName(),
        metadata.getUid());
  }

  /**
   * Restore it into that target.
   *
   * @param holding since when the holder waits: from then on the deadline counts
   */
  GpuNodeOperationSpec restore(
      GpuRestore restore, Source.Ready source, Pod target, Instant holding, Instant now) {
    RestoreOrder order = new RestoreOrder();
    order.setFingerprint(source.wanted().text());
    Tcp asTaken = source.checkpoint().getSpec().getTcp();
    order.setTcp(Objects.requireNonNullElse(restore.getSpec().getTcp(), asTaken));
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.RESTORE);
    spec.setNodeName(target.getSpec().getNodeName());
    spec.setPod(
        new OperationPod(
            target.getMetadata().getNamespace(),
            target.getMetadata().getName(),
            target.getMetadata().getUid(),
            source.container()));
    spec.setArtifact(artifact(source));
    spec.setRestore(order);
    Duration left =
        restore.getSpec().getDeadline().duration().minus(Duration.between(holding, now));
    spec.setDeadline(TimeSpan.of(Math.max(1, left.toSeconds()) + "s"));
    return spec;
  }

  private static ArtifactReference artifact(Source.Ready source) {
    ArtifactStatus artifact = source.artifact();
    ObjectMeta checkpoint = source.checkpoint().getMetadata();
    return new ArtifactReference(
        Objects.requireNonNull(artifact.getStore(), "read before"),
        Objects.requireNonNull(artifact.getLocation(), "read before"),
        checkpoint.getNamespace(),
        Objects.requireNonNullElse(artifact.getUid(), checkpoint.getUid()),
        artifact.getSha256());
  }
}
