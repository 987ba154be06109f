package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.VolumeNodes;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Has the node of the target download the artifact from a remote store. It begins as soon as the
 * target has a node, beside the start of its containers.
 */
final class DownloadArtifact extends Step<RestoreContext, RestorePhase> {

  private final TargetReader reader = new TargetReader();
  private final Operations operations;
  private final Cluster cluster;
  private final VolumeNodes volumes;

  DownloadArtifact(Operations operations, Cluster cluster) {
    super(
        "download-artifact",
        List.of(RestorePhase.STARTING),
        new Timeout(
            "spec.options.deadline",
            "Counted from the claim of the operation; the agent ends it then."));
    this.operations = operations;
    this.cluster = cluster;
    this.volumes = new VolumeNodes(cluster);
  }

  @Override
  protected Progress observe(RestoreContext context) {
    Optional<String> node = context.target().map(pod -> pod.getSpec().getNodeName());
    if (context.operation().isPresent()
        || node.isEmpty()
        || !(context.source() instanceof Source.Ready source)
        || source.artifact().getDurability() == null
        || source.artifact().getNode() != null) {
      return new Progress.Done();
    }
    Optional<OperationView> download = operation(context);
    if (download.isEmpty()) {
      return Progress.Due.of(() -> create(context, source));
    }
    OperationView found = download.get();
    if (found.isFinal()) {
      return found.succeeded() ? new Progress.Done() : new Progress.Failed(faults(found));
    }
    // Until the placeholder process runs, the next step reports what it waits for.
    return reader.read(context.theTarget(), source.container()) instanceof TargetState.Holding
        ? new Progress.Waiting(
            Reason.IN_PROGRESS, sentence(node.get(), found, volumes.without(source.artifact())))
        : new Progress.Done();
  }

  /** A volume can be mounted elsewhere after the target was scheduled. */
  private static String sentence(
      String node, OperationView download, Map<String, String> withoutVolume) {
    String done = download.status().getProgress();
    String moved = withoutVolume.get(node);
    String message = moved == null ? download.status().getMessage() : moved;
    return "node "
        + node
        + " downloads the artifact"
        + (done == null ? "" : ", " + done)
        + (message == null || message.isBlank() ? "" : ": " + message);
  }

  private static List<Fault> faults(OperationView failed) {
    return failed.faults().isEmpty()
        ? List.of(
            Reason.RESTORE_FAILED.misfit(
                "operation " + failed.name(),
                "Succeeded",
                failed.phase().value() + " " + failed.reason()))
        : failed.faults();
  }

  private Optional<OperationView> operation(RestoreContext context) {
    String uid = context.restore().getMetadata().getUid();
    String name =
        new OperationName(
                RequesterKind.RESTORE, uid, OperationType.DOWNLOAD, Math.max(1, context.attempts()))
            .text();
    return cluster.operations(uid).stream()
        .filter(operation -> operation.getMetadata().getName().equals(name))
        .findFirst()
        .map(OperationView::of);
  }

  private void create(RestoreContext context, Source.Ready source) {
    Pod target = context.theTarget();
    ArtifactStatus artifact = source.artifact();
    ObjectMeta checkpoint = source.checkpoint().getMetadata();
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.DOWNLOAD);
    spec.setNodeName(target.getSpec().getNodeName());
    spec.setDeadline(context.restore().getSpec().getOptions().getDeadline());
    spec.setArtifact(
        new ArtifactReference(
            Objects.requireNonNull(artifact.getStore(), "read before"),
            Objects.requireNonNull(artifact.getLocation(), "read before"),
            checkpoint.getNamespace(),
            Objects.requireNonNullElse(artifact.getUid(), checkpoint.getUid()),
            artifact.getSha256(),
            cluster
                .namespace(checkpoint.getNamespace())
                .map(Namespace::getMetadata)
                .map(ObjectMeta::getUid)
                .orElse(null)));
    operations.create(
        operations.draft(
            RequesterKind.RESTORE.reference(context.restore().getMetadata()),
            Math.max(1, context.attempts()),
            spec));
  }

  @Override
  public String undoes() {
    return "cancels the download";
  }

  @Override
  protected Progress observeUndo(RestoreContext context) {
    return operation(context)
        .filter(it -> !it.isFinal() && !it.isCancelled())
        .<Progress>map(it -> Progress.Due.of(() -> cancel(it.operation())))
        .orElseGet(Progress.Done::new);
  }

  private void cancel(GpuNodeOperation open) {
    if (!operations.withdraw(open)) {
      operations.cancel(open);
    }
  }
}
