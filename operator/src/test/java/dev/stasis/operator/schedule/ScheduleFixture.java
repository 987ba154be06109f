package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.api.v1beta1.schedule.Retention;
import dev.stasis.api.v1beta1.schedule.ScheduledCheckpointTemplate;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.FakeRequestWrites;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A schedule, its pods and a clock; agents that do at once what they are told. */
final class ScheduleFixture {

  static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
  static final String NAMESPACE = "ml";

  final FakeCluster cluster = new FakeCluster();
  final GpuCheckpointSchedule schedule = new GpuCheckpointSchedule();
  final List<Story> stories = new ArrayList<>();
  final FakeRequestWrites writes =
      new FakeRequestWrites(cluster, () -> this.now, this::checkpointed);
  private final DeletedPods deletedPods;
  final MovedPods movedPods = new MovedPods(cluster);
  private final GpuPods gpus = new GpuPods(List.of("nvidia.com/gpu"));
  private final ScheduleWorkflow workflow;
  Instant now = START;

  /** What the agents make of a checkpoint. */
  CheckpointPhase outcome = CheckpointPhase.READY;

  /** What its controller would still do if its pod went; null: the next one is the target. */
  @Nullable String ownerStarts;

  /** Returns the template of checkpoints that are deleted by the retention policy. */
  static ScheduledCheckpointTemplate keeping(Retention retention) {
    ScheduledCheckpointTemplate checkpoint = new ScheduledCheckpointTemplate();
    checkpoint.setRetention(retention);
    return checkpoint;
  }

  ScheduleFixture(Consumer<GpuCheckpointScheduleSpec> change) {
    schedule.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(NAMESPACE)
            .withName("often")
            .withUid("sched-uid")
            .withGeneration(1L)
            .withCreationTimestamp(START.toString())
            .build());
    schedule.setSpec(new GpuCheckpointScheduleSpec());
    schedule.getSpec().getOptions().setJitter(TimeSpan.of("0s"));
    schedule.getSpec().setSchedule("* * * * *");
    schedule
        .getSpec()
        .setSelector(new LabelSelectorBuilder().addToMatchLabels("app", "train").build());
    change.accept(schedule.getSpec());
    schedule.setStatus(new GpuCheckpointScheduleStatus());
    deletedPods = new DeletedPods(gpus, Clock.fixed(START, ZoneOffset.UTC));
    EventRecorder events = stories::add;
    workflow =
        new ScheduleWorkflow(
            new ScheduleObserver(cluster, gpus, deletedPods),
            new AutomaticRestores(
                cluster,
                gpus,
                movedPods,
                writes,
                pod -> Optional.ofNullable(ownerStarts),
                events,
                Duration.ofSeconds(15)),
            writes,
            events);
    node("node1", true);
  }

  /** What the agents make of a new checkpoint, at once. */
  private void checkpointed(GpuCheckpoint checkpoint) {
    Pod pod = cluster.pod(NAMESPACE, checkpoint.getSpec().podName()).orElseThrow();
    checkpoint.setStatus(CheckpointStatuses.of(pod, outcome, now));
  }

  /** One reconciliation. */
  ScheduleWorkflow.Requeue look() {
    Report report = new Report(status(), ConditionType.READY, 1L, Clock.fixed(now, ZoneOffset.UTC));
    ScheduleWorkflow.Requeue outcome = workflow.reconcile(schedule, report, now);
    report.writeTo(status());
    return outcome;
  }

  /** Looks until nothing follows from it. */
  void settle() {
    for (int i = 0; i < 10 && look().atOnce(); i++) {
      now = now.plusMillis(50);
    }
    // What it did comes back as a change, and so does what it deleted.
    look();
    look();
  }

  ScheduleFixture at(Instant time) {
    now = time;
    heartbeat();
    return this;
  }

  GpuCheckpointScheduleStatus status() {
    return schedule.getStatus();
  }

  Condition ready() {
    return Objects.requireNonNull(status().getConditions()).get(0);
  }

  List<String> names() {
    return cluster.checkpoints.stream().map(it -> it.getMetadata().getName()).toList();
  }

  /** Its artifact lies where every node reads it. */
  void shared(int checkpoint) {
    GpuCheckpointStatus status =
        Objects.requireNonNull(cluster.checkpoints.get(checkpoint).getStatus());
    Objects.requireNonNull(status.getArtifact()).setNode(null);
  }

  AutomaticRestore restored() {
    return Objects.requireNonNull(status().getRestores()).get(0);
  }

  void node(String name, boolean ready) {
    cluster.nodes.removeIf(it -> it.getMetadata().getName().equals(name));
    cluster.nodes.add(
        new NodeBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .endSpec()
            .withNewStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus(ready ? "True" : "Unknown")
            .withLastTransitionTime((ready ? START.minusSeconds(3600) : now).toString())
            .endCondition()
            .endStatus()
            .build());
    heartbeat();
  }

  private void heartbeat() {
    cluster.gpuNodes.clear();
    cluster.nodes.forEach(
        node -> {
          boolean ready = node.getStatus().getConditions().get(0).getStatus().equals("True");
          GpuNode gpuNode = new GpuNode();
          gpuNode.getMetadata().setName(node.getMetadata().getName());
          gpuNode.setStatus(new GpuNodeStatus());
          Instant heard = ready ? now : START.minusSeconds(3600);
          gpuNode.getStatus().setAgent(new AgentIdentity("0.1", "agent", heard, heard, null, null));
          cluster.gpuNodes.add(gpuNode);
        });
  }

  Pod pod(String name) {
    return pod(name, name + "-uid");
  }

  Pod pod(String name, String uid) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(NAMESPACE)
            .withName(name)
            .withUid(uid)
            .withCreationTimestamp(now.minusSeconds(60).toString())
            .addToLabels("app", "train")
            .endMetadata()
            .withNewSpec()
            .withNodeName("node1")
            .addNewContainer()
            .withName("main")
            .withNewResources()
            .addToLimits("nvidia.com/gpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .withNewStatus()
            .withPhase("Running")
            .endStatus()
            .build();
    replace(pod);
    return pod;
  }

  void replace(Pod pod) {
    cluster.pods.removeIf(it -> it.getMetadata().getName().equals(pod.getMetadata().getName()));
    cluster.pods.add(pod);
  }

  /** The pod goes, and the watch sees it. */
  void gone(Pod pod) {
    cluster.pods.removeIf(it -> it.getMetadata().getUid().equals(pod.getMetadata().getUid()));
    deletedPods.add(pod);
  }

  void failed(Pod pod) {
    replace(
        new PodBuilder(pod)
            .editStatus()
            .withPhase("Failed")
            .withReason("Error")
            .endStatus()
            .build());
  }

  void restarted(Pod pod, int exitCode) {
    replace(
        new PodBuilder(pod)
            .editStatus()
            .addNewContainerStatus()
            .withName("main")
            .withRestartCount(1)
            .withNewLastState()
            .withNewTerminated()
            .withExitCode(exitCode)
            .withFinishedAt(now.toString())
            .endTerminated()
            .endLastState()
            .endContainerStatus()
            .endStatus()
            .build());
  }

  /** A container ended, and its kubelet does not know when. */
  void endedUnseen(Pod pod, boolean restarted) {
    ContainerState ended =
        new ContainerStateBuilder()
            .withNewTerminated()
            .withExitCode(137)
            .withReason("ContainerStatusUnknown")
            .endTerminated()
            .build();
    replace(
        new PodBuilder(pod)
            .editStatus()
            .withPhase(restarted ? "Running" : "Failed")
            .addNewContainerStatus()
            .withName("main")
            .withRestartCount(restarted ? 1 : 0)
            .withState(restarted ? null : ended)
            .withLastState(restarted ? ended : null)
            .endContainerStatus()
            .endStatus()
            .build());
  }

  /** Since when the workload of a checkpoint stood still. */
  Instant frozen(int checkpoint) {
    return new ScheduledCheckpoint(cluster.checkpoints.get(checkpoint)).frozen();
  }

  void frozenAt(int checkpoint, Instant time) {
    GpuCheckpointStatus status =
        Objects.requireNonNull(cluster.checkpoints.get(checkpoint).getStatus());
    status.setPhases(
        Objects.requireNonNull(status.getPhases()).stream()
            .map(entered -> new PhaseTime<>(entered.phase(), time))
            .toList());
  }

  static Pod disrupted(Pod pod, String reason, Instant at) {
    return new PodBuilder(pod)
        .editMetadata()
        .withDeletionTimestamp(at.toString())
        .endMetadata()
        .editStatus()
        .addNewCondition()
        .withType("DisruptionTarget")
        .withStatus("True")
        .withReason(reason)
        .withMessage("said so")
        .withLastTransitionTime(at.toString())
        .endCondition()
        .endStatus()
        .build();
  }

  /** A restore ends like that. */
  void ends(String restore, RestorePhase phase, String... faults) {
    GpuRestore found =
        cluster.restores.stream()
            .filter(it -> it.getMetadata().getName().equals(restore))
            .findFirst()
            .orElseThrow();
    found.setStatus(new GpuRestoreStatus());
    found.getStatus().setPhase(phase);
    found
        .getStatus()
        .setFaults(
            List.of(faults).stream()
                .map(it -> new Fault(it, "artifact", null, null, null, null, it))
                .toList());
  }
}
