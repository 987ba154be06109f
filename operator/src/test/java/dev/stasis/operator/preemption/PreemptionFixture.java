package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicySpec;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.api.v1beta1.policy.Preemptors;
import dev.stasis.api.v1beta1.policy.Victims;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.FakeRequestWrites;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/** A cluster with a scheduler, agents and policies, whose time passes as a test says. */
final class PreemptionFixture {

  static final Instant START = VictimChooserTest.NOW;

  /** From the order until the pod has gone. */
  private static final Duration FREEZE = Duration.ofSeconds(10);

  final FakeCluster cluster = new FakeCluster();
  final List<Story> stories = new ArrayList<>();

  final FakeRequestWrites writes = new FakeRequestWrites(cluster, () -> this.now, it -> {});
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final KubernetesSerialization json = new KubernetesSerialization();
  private final PreemptionWorkflow workflow;
  private int made;
  Instant now = START;

  /** Whether a freeze succeeds. */
  boolean freezes = true;

  PreemptionFixture() {
    GpuPods gpus = new GpuPods(List.of("nvidia.com/gpu"));
    EventRecorder events = stories::add;
    PreemptionFollowUp followUp =
        new PreemptionFollowUp(cluster, gpus, writes, events, new StasisMetrics(registry), json);
    workflow = new PreemptionWorkflow(cluster, gpus, followUp, writes, events);
  }

  GpuPreemptionPolicy policy(String name, int most, int least) {
    return policy(name, most, least, spec -> {});
  }

  GpuPreemptionPolicy policy(
      String name, int most, int least, Consumer<GpuPreemptionPolicySpec> change) {
    GpuPreemptionPolicy policy = new GpuPreemptionPolicy();
    policy.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withUid(name + "-uid")
            .withGeneration(1L)
            .withCreationTimestamp(now.plusSeconds(cluster.policies.size()).toString())
            .build());
    policy.setSpec(new GpuPreemptionPolicySpec());
    policy.getSpec().setVictims(new Victims(null, null, most));
    policy.getSpec().setPreemptors(new Preemptors(null, null, least));
    policy.getSpec().setMinRunTime(TimeSpan.of("10m"));
    change.accept(policy.getSpec());
    policy.setStatus(new GpuPreemptionPolicyStatus());
    cluster.policies.add(policy);
    return policy;
  }

  void node(String name, int gpus) {
    cluster.nodes.add(PreemptionSamples.node(name, gpus));
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    node.setStatus(new GpuNodeStatus());
    Instant ever = START.plus(Duration.ofDays(1));
    node.getStatus().setAgent(new AgentIdentity("0.1", "agent", ever, ever, null, null));
    cluster.gpuNodes.add(node);
  }

  /** A pod that runs there for an hour. */
  Pod running(String name, String node, int priority) {
    Pod pod =
        new PodBuilder(made(name, priority))
            .editSpec()
            .withNodeName(node)
            .endSpec()
            .withNewStatus()
            .withPhase("Running")
            .withStartTime(now.minus(Duration.ofHours(1)).toString())
            .endStatus()
            .build();
    cluster.pods.add(pod);
    return pod;
  }

  /** A pod for which the scheduler has found nothing. */
  Pod waiting(String name, int priority) {
    return waiting(name, priority, 1);
  }

  Pod waiting(String name, int priority, int gpus) {
    Pod pod =
        new PodBuilder(made(name, priority, gpus))
            .withNewStatus()
            .withPhase("Pending")
            .addNewCondition()
            .withType("PodScheduled")
            .withStatus("False")
            .withReason("Unschedulable")
            .withMessage("0/1 nodes are available")
            .endCondition()
            .endStatus()
            .build();
    cluster.pods.add(pod);
    return pod;
  }

  private Pod made(String name, int priority) {
    return made(name, priority, 1);
  }

  private Pod made(String name, int priority, int gpus) {
    made++;
    return new PodBuilder(PreemptionSamples.pod(name, gpus, priority))
        .editMetadata()
        .withUid(name + "-" + made)
        .withCreationTimestamp(now.toString())
        .endMetadata()
        .editSpec()
        .withPreemptionPolicy("Never")
        .withPriorityClassName("class-" + priority)
        .endSpec()
        .build();
  }

  /** Every policy looks once; returns whether one wants to look again at once. */
  boolean look() {
    boolean again = false;
    for (GpuPreemptionPolicy policy : cluster.policies) {
      Report report =
          new Report(policy.getStatus(), ConditionType.READY, 1L, Clock.fixed(now, ZoneOffset.UTC));
      again |= workflow.reconcile(policy, report, now);
      report.writeTo(policy.getStatus());
    }
    return again;
  }

  /** Time passes, one look a second; agents and the scheduler do their part. */
  void pass(Duration time) {
    Instant end = now.plus(time);
    while (now.isBefore(end)) {
      look();
      now = now.plusSeconds(1);
      agents();
      schedule();
    }
    look();
  }

  Optional<Pod> pod(String name) {
    return cluster.pod("ml", name);
  }

  void ends(String name) {
    cluster.pods.removeIf(pod -> pod.getMetadata().getName().equals(name));
  }

  static Condition ready(GpuPreemptionPolicy policy) {
    return Objects.requireNonNull(policy.getStatus().getConditions()).get(0);
  }

  private void agents() {
    for (GpuCheckpoint checkpoint : cluster.checkpoints) {
      Instant made = Instant.parse(checkpoint.getMetadata().getCreationTimestamp());
      boolean working = checkpoint.getStatus() == null;
      if (working && Boolean.TRUE.equals(checkpoint.getSpec().getOptions().getCancel())) {
        checkpoint.setStatus(status(checkpoint, CheckpointPhase.CANCELLED));
      } else if (working && !made.plus(FREEZE).isAfter(now)) {
        checkpoint.setStatus(
            status(checkpoint, freezes ? CheckpointPhase.READY : CheckpointPhase.FAILED));
        if (freezes) {
          ends(checkpoint.getSpec().podName());
        }
      }
    }
    for (GpuRestore restore : List.copyOf(cluster.restores)) {
      Optional<GpuCheckpoint> from =
          cluster.checkpoints.stream()
              .filter(it -> it.getMetadata().getName().equals(restore.getMetadata().getName()))
              .filter(it -> it.getStatus() != null)
              .filter(it -> it.getStatus().getPhase() == CheckpointPhase.READY)
              .findFirst();
      if (from.isPresent() && restore.getStatus() == null) {
        restore.setStatus(new GpuRestoreStatus());
        restore.getStatus().setPhase(RestorePhase.STARTING);
        Pod was =
            json.convertValue(
                Objects.requireNonNull(from.get().getStatus()).getPodTemplate(), Pod.class);
        waiting(was.getMetadata().getName(), was.getSpec().getPriority())
            .getSpec()
            .setReadinessGates(List.of(new PodReadinessGate(Api.RESTORED_GATE)));
      } else if (restore.getStatus() != null
          && restore.getStatus().getPhase() == RestorePhase.STARTING) {
        pod(Objects.requireNonNull(Objects.requireNonNull(restore.getSpec().getTarget()).podName()))
            .filter(pod -> pod.getSpec().getNodeName() != null)
            .ifPresent(pod -> succeeded(restore, pod));
      }
    }
  }

  private void succeeded(GpuRestore restore, Pod pod) {
    pod.getStatus()
        .setConditions(
            List.of(
                new PodConditionBuilder()
                    .withType(Api.RESTORED_GATE)
                    .withStatus("True")
                    .withLastTransitionTime(now.toString())
                    .build()));
    GpuRestoreStatus status = Objects.requireNonNull(restore.getStatus());
    status.setPhase(RestorePhase.SUCCEEDED);
    status.setPhases(List.of(new PhaseTime<>(RestorePhase.SUCCEEDED, now)));
  }

  private GpuCheckpointStatus status(GpuCheckpoint checkpoint, CheckpointPhase phase) {
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(phase);
    status.setPhases(List.of(new PhaseTime<>(phase, now)));
    pod(checkpoint.getSpec().podName())
        .ifPresent(
            pod -> {
              status.setPod(
                  new ObservedPod(
                      pod.getMetadata().getName(), pod.getMetadata().getUid(), "main", "n"));
              @SuppressWarnings("unchecked") // an object of JSON is one
              Map<String, Object> template = json.convertValue(pod, Map.class);
              status.setPodTemplate(template);
            });
    boolean ready = phase == CheckpointPhase.READY;
    status.setConditions(
        List.of(
            new Condition(
                "Ready", ready ? ConditionValue.TRUE : ConditionValue.FALSE, "Any", "why", now, 1L),
            new Condition(
                "SourceRunning",
                ready ? ConditionValue.FALSE : ConditionValue.TRUE,
                ready ? "Evicted" : "Untouched",
                "",
                now,
                1L)));
    return status;
  }

  /** As the scheduler does it: the most important first, what is nominated is not given away. */
  private void schedule() {
    List<Pod> queue =
        cluster.podsWithoutNode().stream()
            .sorted(
                Comparator.comparing((Pod pod) -> new PodState(pod).priority())
                    .reversed()
                    .thenComparing(pod -> pod.getMetadata().getCreationTimestamp()))
            .toList();
    for (Pod pod : queue) {
      for (var node : cluster.nodes) {
        String name = node.getMetadata().getName();
        long used = cluster.podsOn(name).size();
        long kept =
            queue.stream()
                .filter(it -> it != pod && it.getSpec().getNodeName() == null)
                .filter(it -> name.equals(it.getStatus().getNominatedNodeName()))
                .filter(it -> new PodState(it).priority() >= new PodState(pod).priority())
                .count();
        long gpus =
            Objects.requireNonNull(node.getStatus().getAllocatable().get("nvidia.com/gpu"))
                .getNumericalAmount()
                .longValue();
        if (used + kept < gpus) {
          pod.getSpec().setNodeName(name);
          pod.getStatus().setPhase("Running");
          pod.getStatus().setStartTime(now.toString());
          break;
        }
      }
    }
  }
}
