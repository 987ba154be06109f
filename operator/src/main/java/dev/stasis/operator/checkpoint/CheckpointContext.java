package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.RequestContext;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The observed state of one GpuCheckpoint.
 *
 * @param object the object, with a status
 * @param pod the pod of status.pod.uid, else that of spec.podRef.name; empty with an import
 * @param jobDeadline when the Job of the pod ends it; empty if it does not
 * @param operations read once, so that one which appears meanwhile is observed next time
 * @param conditions those at the beginning of the reconciliation
 */
record CheckpointContext(
    GpuCheckpoint object,
    CheckpointStatusUpdater updater,
    CheckpointReporter reporter,
    RestorableCondition restorable,
    Cluster cluster,
    Optional<Pod> pod,
    Optional<Instant> jobDeadline,
    List<OperationView> operations,
    Conditions conditions,
    Requeue requeue,
    StasisConfig config,
    Instant now)
    implements RequestContext<CheckpointPhase> {

  GpuCheckpointSpec spec() {
    return object.getSpec();
  }

  @Override
  public GpuCheckpointStatus status() {
    return object.getStatus();
  }

  /** Returns whether the pod is being deleted, or gone. */
  boolean isPodLeaving() {
    return pod.map(it -> it.getMetadata().getDeletionTimestamp() != null).orElse(true);
  }

  /** Returns the status of the container with the GPUs, once its name is known. */
  Optional<ContainerStatus> container() {
    return Optional.ofNullable(status().getPod())
        .map(ObservedPod::container)
        .flatMap(name -> pod.flatMap(it -> new PodState(it).container(name)));
  }

  /** Reports when the workload started, while the pod still exists: how much work it has done. */
  void reportWorkloadStart() {
    if (status().getWorkloadStartTime() == null) {
      Optional.ofNullable(status().getPod())
          .map(ObservedPod::container)
          .flatMap(name -> pod.flatMap(it -> new PodState(it).workloadStart(name)))
          .ifPresent(status()::setWorkloadStartTime);
    }
  }

  /** Returns whether the artifact exists already, and nothing is frozen. */
  boolean isImport() {
    return spec().getImportFrom() != null;
  }

  String uid() {
    return object.getMetadata().getUid();
  }

  String namespace() {
    return object.getMetadata().getNamespace();
  }

  /** Returns the namespace; one with nothing but its name if it is unknown. */
  Namespace namespaceObject() {
    return cluster.namespaceOrName(namespace());
  }

  boolean isDeleted() {
    return object.getMetadata().getDeletionTimestamp() != null;
  }

  @Override
  public boolean isCancelRequested() {
    return Boolean.TRUE.equals(spec().getOptions().getCancel());
  }

  @Override
  public boolean hasFailed() {
    return phase() == CheckpointPhase.FAILED;
  }

  /** Returns also whether the namespace is being deleted: nothing is begun or kept frozen in it. */
  @Override
  public boolean isCancelled() {
    return isCancelRequested() || cluster.isNamespaceDeleted(namespace());
  }

  /** Only a deletion undoes the steps. The agent undoes a canceled operation and reports how. */
  @Override
  public boolean isUndone() {
    return isDeleted();
  }

  @Override
  public @Nullable String operationName() {
    return status().getOperation();
  }

  @Override
  public void addTo(LogContext fields) {
    fields.operation(operationName()).step(status().getStep()).node(node().orElse(null));
  }

  @Override
  public CheckpointPhase phase() {
    return CurrentPhase.of(object);
  }

  /** Returns when it last became Ready; empty if it never was. */
  Optional<Instant> readyTime() {
    return PhaseLog.of(status()).last(CheckpointPhase.READY);
  }

  /** Returns whether an eviction by another client waits for it. */
  boolean isForAnEviction() {
    return Marks.annotations(object).containsKey(Api.EVICT_SINCE_ANNOTATION);
  }

  /** Returns the end of the object's own deadline. */
  Instant deadline() {
    return created().plus(spec().getOptions().getDeadline().duration());
  }

  boolean isLate() {
    return !now.isBefore(deadline());
  }

  Instant created() {
    return Instant.parse(object.getMetadata().getCreationTimestamp());
  }

  ObjectReference self() {
    return RequesterKind.CHECKPOINT.reference(object.getMetadata());
  }

  /** Returns the agent of a node. */
  NodeAgent agent(String node) {
    return NodeAgent.of(cluster, node, now);
  }

  /** Returns the agent that executes an operation. */
  NodeAgent agent(OperationView operation) {
    return agent(operation.node());
  }

  /** Returns the node of the pod, once it is known. */
  Optional<String> node() {
    return Optional.ofNullable(status().getPod()).map(it -> it.node());
  }

  /** Returns whether the workload is to be suspended now. */
  boolean wantsSuspended() {
    TimeSliceScheduler slices = new TimeSliceScheduler(this);
    return spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && spec().getDesiredState() != DesiredState.RUNNING
        && !isCancelled()
        && !isDeleted()
        && !(slices.isOn() && slices.verdict().runs());
  }

  /** Returns whether the object is to keep its workload suspended, at times at least. */
  boolean suspends() {
    return spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && !spec().getOptions().getDryRun();
  }

  /** Returns whether a suspended workload is being resumed. */
  boolean isResuming() {
    return phase() == CheckpointPhase.RESUMING && conditions.isTrue(ConditionType.SUSPENDED);
  }

  /** Returns whether it has its artifact, and its workload runs as it should. */
  boolean isReady() {
    return phase() == CheckpointPhase.READY && (isImport() || !wantsSuspended());
  }

  /** Returns whether it has failed, but a restore may use its artifact. */
  boolean isReadyThoughFailed() {
    return hasFailed() && conditions.isTrue(ConditionType.READY);
  }

  /**
   * Returns the operation of the current freeze; empty before the first and after a finished one.
   */
  Optional<OperationView> freeze() {
    boolean rests =
        phase() == CheckpointPhase.SUSPENDED
            || isResuming()
            || (phase() == CheckpointPhase.READY && !suspends());
    return rests ? Optional.empty() : FreezeAttempt.next(this).operation(this);
  }

  /** Returns how often the workload was suspended. */
  int suspensions() {
    return Objects.requireNonNullElse(status().getSuspensions(), 0);
  }

  /** Returns an operation by type and number; empty before it is created. */
  Optional<OperationView> operation(OperationType type, int number) {
    String name = new OperationName(RequesterKind.CHECKPOINT, uid(), type, number).text();
    return operations.stream().filter(it -> it.name().equals(name)).findFirst();
  }

  /** Returns the faults for which the operator canceled an operation, then the agent's. */
  List<Fault> faults(OperationView operation) {
    List<Fault> own = Objects.requireNonNullElse(status().getFaults(), List.of());
    return Stream.concat(own.stream(), operation.faults().stream()).distinct().toList();
  }

  /** Returns the operations that freeze the workload. */
  Stream<OperationView> freezes() {
    return operations.stream()
        .filter(it -> it.type() == OperationType.CHECKPOINT || it.type() == OperationType.SUSPEND);
  }

  /** Returns the restores from the artifact. */
  List<GpuRestore> restores() {
    return cluster.restoresOf(namespace(), object.getMetadata().getName());
  }

  /** Returns the objects that need the artifact now. */
  List<ObjectReference> artifactUsers() {
    return restores().stream()
        .filter(
            it ->
                Optional.ofNullable(it.getStatus())
                    .map(GpuRestoreStatus::getPhase)
                    .filter(phase -> !phase.isFinal())
                    .isPresent())
        .map(it -> RequesterKind.RESTORE.reference(it.getMetadata()))
        .toList();
  }

  /** Returns a node whose agent can read and delete the artifact now. */
  Optional<String> reachingNode(ArtifactStatus artifact) {
    Stream<String> nodes =
        artifact.getNode() != null
            ? Stream.of(artifact.getNode())
            : cluster.gpuNodes().stream()
                .filter(it -> NodeStores.of(it).canWrite(artifact.getStore()))
                .map(it -> it.getMetadata().getName())
                // The pod's node may have its own copy: it repairs the other, and is deleted too.
                .sorted(
                    Comparator.comparing((String it) -> !node().equals(Optional.of(it)))
                        .thenComparing(Comparator.naturalOrder()));
    return nodes.filter(it -> agent(it).against().isEmpty()).findFirst();
  }

  /**
   * Returns whether the agent has accepted an operation, needs nothing for it, and begins soon. The
   * faults for which an operation is canceled are written immediately: they explain its end.
   */
  boolean isAccepted() {
    return (status().getFaults() == null || status().getFaults().isEmpty())
        && operations.stream()
            .anyMatch(
                it -> it.phase() == OperationPhase.CLAIMED && !HeadroomNegotiation.isAsked(it));
  }

  /**
   * Returns whether an operation was created that its agent will claim soon. Its status can be
   * derived from the operation again, except for the names of other containers.
   */
  boolean isRequested() {
    return status().getOperation() != null
        && status().getOtherContainers() == null
        && Reason.WAITING_FOR_AGENT.is(status().getReason());
  }

  void requeueAfter(Duration after) {
    requeue.after(after);
  }

  void requeueAt(Instant time) {
    requeue.after(Duration.between(now, time));
  }

  /** Observes the object again at its deadline, which triggers no event. */
  void requeueAtDeadline() {
    if (!isLate()) {
      requeueAt(deadline());
    }
  }

  /** Observes the object again at the usual interval, for changes without an event. */
  void poll() {
    requeueAfter(config.lookAgainEvery());
  }

  /** Returns the progress of a step that has written its state into the status. */
  Progress reported() {
    return new Progress.Reported(requeue.soonest().orElse(Requeue.IDLE));
  }
}
