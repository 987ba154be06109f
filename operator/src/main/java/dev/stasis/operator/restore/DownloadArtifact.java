package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuNodeOperation;
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
import dev.stasis.operator.workflow.AgentStep;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Has the node of the target download the artifact from a remote store. It begins as soon as the
 * target has a node, beside the start of its containers.
 */
final class DownloadArtifact extends AgentStep<RestoreContext, RestorePhase> {

  private final TargetReader reader = new TargetReader();
  private final Operations operations;
  private final Cluster cluster;
  private final VolumeNodes volumes;

  DownloadArtifact(Operations operations, Cluster cluster) {
    super(
        operations,
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
    return context.operation().isPresent()
            || context.target().map(pod -> pod.getSpec().getNodeName()).isEmpty()
            || !(context.source() instanceof Source.Ready source)
            || source.artifact().getDurability() == null
            || source.artifact().getNode() != null
        ? new Progress.Done()
        : super.observe(context);
  }

  /** Until the placeholder process runs, the next step reports what it waits for. */
  @Override
  protected Progress waiting(RestoreContext context, OperationView download) {
    Source.Ready source = (Source.Ready) context.source();
    return reader.read(context.theTarget(), source.container()) instanceof TargetState.Holding
        ? new Progress.Waiting(
            Reason.IN_PROGRESS,
            sentence(
                context.theTarget().getSpec().getNodeName(),
                download,
                volumes.without(source.artifact())))
        : new Progress.Done();
  }

  /** A volume can be mounted elsewhere after the target was scheduled. */
  private static String sentence(
      String node, OperationView download, Map<String, String> withoutVolume) {
    String done = download.status().getProgress();
    String message = withoutVolume.getOrDefault(node, download.message(""));
    return "node "
        + node
        + " downloads the artifact"
        + (done == null ? "" : ", " + done)
        + (message.isBlank() ? "" : ": " + message);
  }

  @Override
  protected Optional<OperationView> operation(RestoreContext context) {
    return new OperationName(
            RequesterKind.RESTORE,
            context.restore().getMetadata().getUid(),
            OperationType.DOWNLOAD,
            Math.max(1, context.attempts()))
        .in(cluster);
  }

  @Override
  protected GpuNodeOperation draft(RestoreContext context, Operations all) {
    Source.Ready source = (Source.Ready) context.source();
    GpuNodeOperationSpec spec =
        GpuNodeOperationSpec.of(
            OperationType.DOWNLOAD, context.theTarget().getSpec().getNodeName());
    spec.setDeadline(context.restore().getSpec().getOptions().getDeadline());
    spec.setArtifact(
        source.reference(
            cluster
                .namespace(source.checkpoint().getMetadata().getNamespace())
                .map(Namespace::getMetadata)
                .map(ObjectMeta::getUid)
                .orElse(null)));
    return all.draft(
        RequesterKind.RESTORE.reference(context.restore().getMetadata()),
        Math.max(1, context.attempts()),
        spec);
  }

  @Override
  public String undoes() {
    return "cancels the download";
  }

  @Override
  protected Progress observeUndo(RestoreContext context) {
    return operation(context)
        .filter(it -> !it.isFinal() && !it.isCancelled())
        .<Progress>map(it -> Progress.Due.of(() -> operations.withdrawOrCancel(it.operation())))
        .orElseGet(Progress.Done::new);
  }
}
