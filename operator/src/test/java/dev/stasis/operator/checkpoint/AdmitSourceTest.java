package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class AdmitSourceTest {

  @Test
  void aCheckpointIsRequestedFromTheAgentOfThePodsNode() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();

    GpuNodeOperationSpec order =
        world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getPod()).uid()).isEqualTo("pod-1");
    assertThat(order.getPod().containerName()).isEqualTo("main");
    assertThat(Objects.requireNonNull(order.getArtifact()).location())
        .isEqualTo("ml/train-1-uid-1");
    FreezeOrder freeze = Objects.requireNonNull(order.getFreeze());
    assertThat(freeze.getAfterwards()).isEqualTo(Afterwards.RESUME);
    assertThat(freeze.getMaxFrozen()).isNull();
    assertThat(Objects.requireNonNull(freeze.getPodTemplate())).containsKeys("metadata", "spec");
    assertThat(world.phase()).isEqualTo(CheckpointPhase.PENDING);
    assertThat(world.condition("Ready")).startsWith("False/WaitingForAgent");
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(world.writes).isEqualTo(1);
  }

  @Test
  void aPodThatIsNotThereIsNamed() {
    refuses(
        spec -> spec.setPodRef(PodReference.of("nobody")),
        pod -> pod,
        "podRef.name: expected nobody in namespace ml, got no such pod",
        "PodNotFound");
  }

  @Test
  void anotherPodOfThatNameIsNotMeant() {
    refuses(
        spec -> spec.setPodRef(new PodReference("trainer", "pod-0")),
        pod -> pod,
        "podRef.uid: expected pod-0, got pod-1",
        "PodChanged");
  }

  @Test
  void aPodThatDoesNotRunIsRefused() {
    refuses(
        spec -> {},
        pod -> new PodBuilder(pod).editStatus().withPhase("Pending").endStatus().build(),
        "pod trainer: expected phase Running, got Pending",
        "PodNotRunning");
  }

  @Test
  void aPodWithoutGpuIsRefused() {
    refuses(
        spec -> {},
        pod -> {
          Pod without = new PodBuilder(pod).build();
          without.getSpec().getContainers().get(0).getResources().setLimits(null);
          return without;
        },
        "pod trainer: expected one of [nvidia.com/gpu, nvidia.com/gpu.shared] or a resource claim,"
            + " got none",
        "NoGpu");
  }

  @Test
  void twoContainersWithGpusWantAName() {
    refuses(
        spec -> {},
        AdmitSourceTest::withSecondGpuContainer,
        "containerName: expected the name of one, because several have GPUs,"
            + " got none beside [main, second]",
        "ContainerAmbiguous");
  }

  @Test
  void aContainerThatIsNotThereIsNamed() {
    refuses(
        spec -> spec.getOptions().setContainerName("other"),
        pod -> pod,
        "containerName: expected one of [main], got other",
        "ContainerNotFound");
  }

  @Test
  void otherContainersAreRefusedUnlessTheyMayRestart() {
    refuses(
        spec -> spec.getOptions().setContainerName("main"),
        AdmitSourceTest::withSecondGpuContainer,
        "sidecarPolicy: expected Restart, or a pod with one container,"
            + " got Fail, with the other containers [second]",
        "OtherContainers");

    World world =
        Samples.world(
            spec -> {
              spec.getOptions().setContainerName("main");
              spec.getOptions().setSidecarPolicy(SidecarPolicy.RESTART);
            });
    change(world, AdmitSourceTest::withSecondGpuContainer);
    world.settle();
    assertThat(world.operations()).hasSize(1);
    assertThat(world.status().getOtherContainers()).containsExactly("second");
  }

  @Test
  void aStoreThatIsNotThereIsNamed() {
    refuses(
        spec -> spec.setStorageRef(NameReference.ofNullable("nfs")),
        pod -> pod,
        "store: expected nfs, got only [local]",
        "StoreNotFound");
  }

  @Test
  void aStoreThatTheNodeCannotWriteToIsRefused() {
    World world = Samples.world(spec -> {});
    Objects.requireNonNull(world.cluster.gpuNodes.get(0).getStatus())
        .setStores(List.of(new NodeStore("local", false, "read-only", null, null, null, 0L, 0)));
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.status().getMessage()).contains("store local").contains("read-only");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aStoreOfWhichTheAgentHasSaidNothingIsWaitedFor() {
    World world = Samples.world(spec -> {});
    Objects.requireNonNull(world.cluster.gpuNodes.get(0).getStatus()).setStores(List.of());
    world.settle();

    assertThat(world.condition("Ready")).startsWith("False/StoreNotWritable");
  }

  @Test
  void anAgentThatIsMissingIsWaitedForUntilTheDeadline() {
    World world = Samples.world(spec -> {});
    world.cluster.gpuNodes.clear();
    world.settle();

    assertThat(world.condition("Ready"))
        .isEqualTo(
            "False/WaitingForAgent: GpuNode gpu-17: expected one published by the agent there,"
                + " got none");

    world.later(Duration.ofMinutes(31));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed")).startsWith("True/DeadlineExceeded");
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
  }

  @Test
  void anAgentThatIsSilentIsWaitedFor() {
    World world = Samples.world(spec -> {});
    world.later(Duration.ofMinutes(4));
    world.settle();

    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aPodInOtherHandsIsWaitedFor() {
    World other = Samples.world(spec -> {}).settle();
    World world = Samples.world(spec -> {});
    world.checkpoint.getMetadata().setUid("uid-2");
    world.cluster.operations.putAll(other.cluster.operations);
    world.settle();
    assertThat(world.condition("Ready"))
        .isEqualTo(
            "False/AnotherOperation: pod trainer: expected one that no request uses,"
                + " got one in use by GpuCheckpoint train-1");

    other.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.operation(OperationType.CHECKPOINT, 1)).isPresent();
  }

  @Test
  void aCancellationBeforeTheStartChangesNothing() {
    World world = Samples.world(spec -> spec.getOptions().setCancel(true)).settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(world.condition("Ready")).startsWith("False/Cancelled");
    assertThat(world.condition("Failed")).isEqualTo("none");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aLivenessProbeLimitsTheFreeze() {
    World world = Samples.world(spec -> {});
    change(world, pod -> withProbe(pod, 10, 3));
    world.settle();

    assertThat(
            Objects.requireNonNull(
                    world
                        .operation(OperationType.CHECKPOINT, 1)
                        .orElseThrow()
                        .getSpec()
                        .getFreeze())
                .getMaxFrozen())
        .hasToString("21s");
  }

  @Test
  void aSuspendBehindALivenessProbeIsRefused() {
    refuses(
        spec -> spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND),
        pod -> withProbe(pod, 10, 3),
        "livenessProbe",
        "ProbeTooShort");
  }

  @Test
  void anEvictionThatABudgetRefusesFreezesNothing() {
    World world = Samples.world(AfterCheckpoint.EVICT);
    world.evictAnswer = new PodWrites.Refused("needs 1 healthy pods and has 1", true);
    world.settle();
    assertThat(world.asked).allMatch(ask -> ((Question.Evict) ask).dryRun());
    assertThat(world.condition("Ready"))
        .isEqualTo("False/EvictionRefused: needs 1 healthy pods and has 1");
    assertThat(world.operations()).isEmpty();

    world.evictAnswer = new PodWrites.Accepted();
    world.settle();
    assertThat(
            Objects.requireNonNull(
                    world
                        .operation(OperationType.CHECKPOINT, 1)
                        .orElseThrow()
                        .getSpec()
                        .getFreeze())
                .getAfterwards())
        .isEqualTo(Afterwards.HOLD);
  }

  @Test
  void aDaemonsPodIsNotEvictedSinceAnotherOneWouldStartCold() {
    refuses(
        spec -> spec.setAfterCheckpoint(AfterCheckpoint.EVICT),
        pod ->
            new PodBuilder(pod)
                .editMetadata()
                .addNewOwnerReference()
                .withKind("DaemonSet")
                .withName("train")
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .build(),
        "got one of DaemonSet train",
        "OwnedPod");
  }

  private static void refuses(
      Consumer<GpuCheckpointSpec> spec, UnaryOperator<Pod> pod, String sentence, String reason) {
    World world = Samples.world(spec);
    change(world, pod);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.status().getMessage()).contains(sentence);
    assertThat(world.status().getReason()).isEqualTo(reason);
    assertThat(world.condition("Ready")).startsWith("False/");
    assertThat(world.condition("Failed")).startsWith("True/");
    assertThat(world.operations()).isEmpty();
    assertThat(world.asked).isEmpty();
    assertThat(world.marks).isEmpty();
    assertThat(world.stories).isNotEmpty().allMatch(story -> story.warning());
    assertThat(world.writes).isEqualTo(1);
  }

  private static void change(World world, UnaryOperator<Pod> change) {
    Pod changed = change.apply(world.pod());
    world.cluster.pods.clear();
    world.cluster.pods.add(changed);
  }

  private static Pod withSecondGpuContainer(Pod pod) {
    return new PodBuilder(pod)
        .editSpec()
        .addNewContainer()
        .withName("second")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static Pod withProbe(Pod pod, int period, int failures) {
    return new PodBuilder(pod)
        .editSpec()
        .editFirstContainer()
        .withNewLivenessProbe()
        .withPeriodSeconds(period)
        .withFailureThreshold(failures)
        .withTimeoutSeconds(1)
        .withNewHttpGet()
        .withPath("/")
        .endHttpGet()
        .endLivenessProbe()
        .endContainer()
        .endSpec()
        .build();
  }
}
