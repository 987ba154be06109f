package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.operator.holder.Standing;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.Waiting;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A controller creates the target while the pod that it replaces has its grace period. */
class OwnedTargetsTest extends RestoreScenario {

  private final OwnedTargets targets =
      new OwnedTargets(
          fakes.cluster,
          new Targets(RestoreFakes.CLIENT) {
            @Override
            public List<Pod> madeFor(String namespace, String uid) {
              return fakes.cluster.pods(namespace);
            }

            @Override
            public Targets.Answer change(Pod pod) {
              return new Targets.Accepted(pod);
            }
          });

  @BeforeEach
  void aTargetWaits() {
    fakes.cluster.gpuNodes.add(gpuNode);
    fakes.cluster.pods.add(
        new PodBuilder(Examples.pod("ml", "trainer-new"))
            .editMetadata()
            .addToLabels(Api.CHECKPOINT_LABEL, "train")
            .addToLabels(Api.OPERATION_UID_LABEL, "ckpt-uid")
            .endMetadata()
            .editSpec()
            .addNewSchedulingGate(Waiting.GATE)
            .endSpec()
            .build());
  }

  @Test
  void theRestoredWorkloadDoesNotRunBesideTheOneThatStillEnds() {
    Pod ending = ending("pod-uid", "");
    assertThat(claim())
        .isEqualTo(
            new TargetPods.Postponed(
                Reason.IN_PROGRESS,
                "pod trainer-old is being removed, and its workload may still run"));

    fakes.cluster.pods.remove(ending);
    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  @Test
  void aPodThatWasRestoredBeforeIsWaitedForToo() {
    ending("restored-uid", "pod-uid");

    assertThat(claim()).isInstanceOf(TargetPods.Postponed.class);
  }

  @Test
  void aPodOfAnotherWorkloadIsNotWaitedFor() {
    ending("other-uid", "");

    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  @Test
  void anEvictedPodIsNotWaitedFor() {
    checkpoint.orElseThrow().getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    ending("pod-uid", "");

    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  /** Its kubelet may never report the end. */
  @Test
  void aPodOnASilentNodeIsNotWaitedFor() {
    fakes.cluster.gpuNodes.set(0, Examples.gpuNode("gpu-1", NOW.minusSeconds(600)));
    ending("pod-uid", "");

    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  @Test
  void aPodOnARemovedNodeIsNotWaitedFor() {
    fakes.cluster.gpuNodes.clear();
    ending("pod-uid", "");

    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  /** A finalizer may keep its object for any time. */
  @Test
  void aPodThatHasEndedIsNotWaitedFor() {
    Pod ending = ending("pod-uid", "");
    fakes.cluster.pods.remove(ending);
    fakes.cluster.pods.add(
        new PodBuilder(ending).withNewStatus().withPhase("Failed").endStatus().build());

    assertThat(claim()).isInstanceOf(TargetPods.Created.class);
  }

  private TargetPods.Result claim() {
    RestoreContext context = context(null, null);
    return targets.claim(
        context,
        (Source.Ready) context.source(),
        new OwnedTargets.Controller(
            new OwnerReferenceBuilder().withKind("ReplicaSet").withName("trainer").build(),
            new Standing.Lives(Optional.empty())));
  }

  private Pod ending(String uid, String former) {
    Pod pod =
        new PodBuilder(Examples.pod("ml", "trainer-old"))
            .editMetadata()
            .withUid(uid)
            .withDeletionTimestamp(NOW.toString())
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
            .endMetadata()
            .editSpec()
            .withNodeName("gpu-1")
            .endSpec()
            .build();
    fakes.cluster.pods.add(pod);
    return pod;
  }
}
