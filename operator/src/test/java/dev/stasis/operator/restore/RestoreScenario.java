package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.store.VolumeNodes;
import dev.stasis.operator.testing.Kstatus;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.WorkflowRunner;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** A restore of one checkpoint on one node; what is not said is as it should be. */
abstract class RestoreScenario {

  static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  static final Fault MISFIT =
      new Fault("Incompatible", "gpu.model", "a", "b", null, null, "gpu.model: expected a, got b");

  final RestoreFakes fakes = new RestoreFakes();
  final SourceReader sources = new SourceReader(new KubernetesSerialization());
  final GpuRestore restore = Examples.restore("ml", "back", "train");
  final GpuNode gpuNode = Examples.gpuNode("gpu-1", NOW);
  Optional<GpuCheckpoint> checkpoint = Optional.of(Examples.checkpoint("ml", "train"));
  List<Node> nodes = List.of(node("gpu-1", false));

  @BeforeEach
  void nothingIsDoneYet() {
    restore.getMetadata().setUid("uid");
  }

  void made() {
    restore.getStatus().setPhase(RestorePhase.STARTING);
    restore.getStatus().setAttempts(1);
    restore.getStatus().setPod(new ObservedPod("trainer", "uid-1", "main", "gpu-1"));
  }

  /** Returns the current step and how far it is, as in "create-target Due". */
  String step(@Nullable Pod target, @Nullable OperationView operation) {
    return current(target, operation)
        .map(it -> it.step().name() + " " + it.progress().getClass().getSimpleName())
        .orElse("none");
  }

  /** Returns what the current step waits for. */
  Progress.Waiting waiting(@Nullable Pod target, @Nullable OperationView operation) {
    return (Progress.Waiting) current(target, operation).orElseThrow().progress();
  }

  /** Returns the messages of what the current step failed of. */
  List<String> faults(@Nullable Pod target, @Nullable OperationView operation) {
    return failed(target, operation).stream().map(Fault::message).toList();
  }

  List<Fault> failed(@Nullable Pod target, @Nullable OperationView operation) {
    return ((Progress.Failed) current(target, operation).orElseThrow().progress()).faults();
  }

  Optional<WorkflowRunner.Current<RestoreContext, RestorePhase>> current(
      @Nullable Pod target, @Nullable OperationView operation) {
    return runner().current(context(target, operation));
  }

  /** Advances the restore by one step. */
  void advance(@Nullable Pod target, @Nullable OperationView operation) {
    runner().advance(context(target, operation));
    new Kstatus().check(restore);
  }

  private WorkflowRunner<RestoreContext, RestorePhase> runner() {
    return new WorkflowRunner<>(fakes.workflow(), fakes.config);
  }

  RestoreContext context(@Nullable Pod target, @Nullable OperationView operation) {
    return context(target, operation, gpuNode.getStatus().getAgent() == null);
  }

  private RestoreContext context(
      @Nullable Pod target, @Nullable OperationView operation, boolean away) {
    Source source = sources.read(restore, checkpoint);
    return new RestoreContext(
        restore,
        source,
        source instanceof Source.Ready ready
            ? Optional.of(
                new Places(gpuNodes(), nodes, new Candidates())
                    .verdicts(
                        ready.sought(),
                        restore.getSpec().getTarget(),
                        new VolumeNodes(fakes.cluster).without(ready.artifact()),
                        NOW))
            : Optional.empty(),
        Optional.ofNullable(target),
        Optional.ofNullable(operation),
        away ? Optional.of("agent: silent") : Optional.empty(),
        NOW);
  }

  private List<GpuNode> gpuNodes() {
    return fakes.cluster.gpuNodes.isEmpty() ? List.of(gpuNode) : fakes.cluster.gpuNodes;
  }

  ArtifactStatus artifact() {
    return Objects.requireNonNull(checkpoint.orElseThrow().getStatus().getArtifact());
  }

  static Node node(String name, boolean cordoned) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(cordoned)
        .endSpec()
        .build();
  }

  static Pod target(String uid, String waiting) {
    return new PodBuilder(Examples.pod("ml", "trainer"))
        .editMetadata()
        .withUid(uid)
        .endMetadata()
        .editSpec()
        .withNodeName("gpu-1")
        .endSpec()
        .withNewStatus()
        .addNewContainerStatus()
        .withName("main")
        .withRestartCount(0)
        .withNewState()
        .withNewWaiting()
        .withReason(waiting.isEmpty() ? "ContainerCreating" : waiting)
        .endWaiting()
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }

  static Pod running(Instant since, int restarts) {
    return new PodBuilder(target("uid-1", ""))
        .editStatus()
        .editFirstContainerStatus()
        .withRestartCount(restarts)
        .withNewState()
        .withNewRunning(since.toString())
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }

  static OperationView operation(OperationPhase phase) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.getMetadata().setName("rst-uid-restore-1");
    operation.setSpec(new GpuNodeOperationSpec());
    operation.getSpec().setType(OperationType.RESTORE);
    operation.getSpec().setNodeName("gpu-1");
    operation.getSpec().setPod(new OperationPod("ml", "trainer", "uid-1", "main"));
    operation.setStatus(new GpuNodeOperationStatus());
    operation.getStatus().setPhase(phase);
    operation.getStatus().setClaimedBy(new Claim("agent", null, NOW));
    return OperationView.of(operation);
  }
}
