package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.common.Tcp;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeciderTest extends Deciding {

  @Test
  void aCheckpointThatIsNotThereOrNotReadyIsWaitedFor() {
    checkpoint = Optional.empty();
    assertThat(next(null, null))
        .isEqualTo(
            new Next.Wait(
                RestorePhase.PENDING,
                Reason.WAITING_FOR_CHECKPOINT,
                "GpuCheckpoint train: wanted one in namespace ml, found none"));

    GpuCheckpoint early = Examples.checkpoint("ml", "train");
    early.getStatus().setConditions(null);
    checkpoint = Optional.of(early);
    assertThat(sentence(next(null, null)))
        .isEqualTo("GpuCheckpoint train: wanted Ready, found Ready");
  }

  @Test
  void aCheckpointThatIsBeingDeletedIsStillThereForTheOneThatHoldsIt() {
    checkpoint.orElseThrow().getMetadata().setDeletionTimestamp("2026-11-21T10:00:00Z");
    assertThat(sentence(next(null, null)))
        .isEqualTo("GpuCheckpoint train: wanted Ready, found that it is being deleted");

    restore.getStatus().setPhase(RestorePhase.PENDING);
    assertThat(next(null, null)).isInstanceOf(Next.Make.class);
  }

  @Test
  void anArtifactOfAnotherNamespaceIsNeverRestored() {
    artifact().setLocation("web/train-uid");

    assertThat(faults(next(null, null)))
        .containsExactly("artifact: wanted one of namespace ml, found web/train-uid");
  }

  @Test
  void aWorkloadThatIsBoundToItsPodIsNeverRestored() {
    artifact()
        .setNotPortable(
            List.of(
                Fault.misfit("NotPortable", Fault.SOCKET_ADDRESS, "0.0.0.0", "10.1.2.3:29500")));
    assertThat(faults(next(null, null)))
        .containsExactly(
            "GpuCheckpoint train cannot be restored in another pod: socket address: wanted 0.0.0.0,"
                + " found 10.1.2.3:29500");

    restore.getSpec().setTcp(Tcp.KEEP);
    assertThat(next(null, null)).isInstanceOf(Next.Make.class);
  }

  @Test
  void aPodWithoutACommandNeedsWhatItsImageSupplies() {
    Pod pod = Examples.pod("ml", "trainer");
    pod.getSpec().getContainers().get(0).setCommand(null);
    checkpoint.orElseThrow().getStatus().setPodTemplate(Examples.template(pod));
    assertThat(next(null, null)).isInstanceOf(Next.Make.class);

    checkpoint.orElseThrow().getStatus().setArgv(null);

    assertThat(faults(next(null, null)))
        .containsExactly("GpuCheckpoint train: status.argv: wanted a command line, found none");
  }

  @Test
  void aPodWithACommandNeedsNothingElse() {
    checkpoint.orElseThrow().getStatus().setArgv(null);

    assertThat(next(null, null)).isInstanceOf(Next.Make.class);
  }

  @Test
  void whileNoNodeFitsTheReasonsAreSaidNodeByNode() {
    nodes = List.of(node("gpu-1", true));
    assertThat(sentence(next(null, null)))
        .isEqualTo("0 of 1 node fits: gpu-1: node: wanted schedulable, found cordoned");

    nodes = List.of(node("gpu-1", false));
    gpuNode.getStatus().setGpus(List.of());
    assertThat(sentence(next(null, null)))
        .isEqualTo("0 of 1 node fits: gpu-1: gpu.count: wanted 1, found 0");
  }

  @Test
  void aNodeThatIsAskedForAndUnknownIsNamed() {
    restore.getSpec().setTarget(new Target("gpu-9", null, null, null));

    assertThat(sentence(next(null, null)))
        .isEqualTo("target.nodeName: wanted a node with GPUs and an agent, found none named gpu-9");
  }

  @Test
  void anArtifactOnTheDiskOfOneNodeIsRestoredThereOnly() {
    artifact().setNode("gpu-2");

    assertThat(sentence(next(null, null)))
        .isEqualTo(
            "0 of 1 node fits: gpu-1: artifact: wanted node gpu-2, whose disk holds it, found"
                + " gpu-1");
  }

  @Test
  void anImageThatNoRegistryKnowsConfinesTheTargetToTheNodesThatListIt() {
    artifact().setImage("sha256:" + "cd".repeat(32));
    GpuCheckpoint elsewhere = checkpoint.orElseThrow();
    elsewhere.getStatus().setPod(new ObservedPod("trainer", "u", "main", "gpu-7"));

    assertThat(sentence(next(null, null))).contains("image: wanted one of [gpu-7], which have");
    nodes =
        List.of(
            new NodeBuilder(node("gpu-1", false))
                .withNewStatus()
                .addNewImage()
                .withNames("registry.example/train:1")
                .endImage()
                .endStatus()
                .build());
    assertThat(next(null, null)).isInstanceOf(Next.Make.class);
  }

  @Test
  void aTargetThatNobodyWroteDownIsTakenUp() {
    Pod target = target("uid-1", "");

    assertThat(next(target, null)).isEqualTo(new Next.Adopt(target));
  }

  @Test
  void theWordsOfTheSchedulerAreHandedOn() {
    made();
    Pod pod = target("uid-1", "");
    pod.getSpec().setNodeName(null);
    Pod waiting =
        new PodBuilder(pod)
            .withNewStatus()
            .addNewCondition()
            .withType("PodScheduled")
            .withStatus("False")
            .withMessage("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
            .endCondition()
            .endStatus()
            .build();

    assertThat(next(waiting, null))
        .isEqualTo(
            new Next.Wait(
                RestorePhase.STARTING,
                Reason.TARGET_NOT_SCHEDULED,
                "pod trainer waits for a node: 0/1 nodes are available: 1 Insufficient"
                    + " nvidia.com/gpu."));
  }

  @Test
  void anImageThatMayNotBePulledIsTriedOnAnotherNode() {
    made();
    Next next = next(target("uid-1", "ErrImageNeverPull"), null);

    assertThat(faults(next).get(0)).contains("found ErrImageNeverPull");
    assertThat(new Verdict(((Next.Fail) next).faults()).excludesNode()).isTrue();
    assertThat(sentence(next(target("uid-1", "ImagePullBackOff"), null)))
        .isEqualTo("pod trainer container main: ImagePullBackOff");
  }

  @Test
  void theAgentIsAskedOnceTheHolderRuns() {
    made();

    assertThat(next(running(NOW, 0), null)).isInstanceOf(Next.Order.class);
  }
}
