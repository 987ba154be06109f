package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GangTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jobset.sigs.k8s.io/jobset-name",
        "leaderworkerset.sigs.k8s.io/name",
        "training.kubeflow.org/job-name",
        "mpi-job-name",
        "pytorch-job-name",
        "ray.io/cluster",
        "kueue.x-k8s.io/pod-group-name",
        "scheduling.x-k8s.io/pod-group",
        "volcano.sh/job-name"
      })
  void aPodThatNamesAGroupIsPartOfAGang(String key) {
    Pod labelled =
        new PodBuilder(PreemptionSamples.pod("a", 1, 1))
            .editMetadata()
            .addToLabels(key, "x")
            .endMetadata()
            .build();
    Pod annotated =
        new PodBuilder(PreemptionSamples.pod("b", 1, 1))
            .editMetadata()
            .addToAnnotations(key, "x")
            .endMetadata()
            .build();
    Pod other =
        new PodBuilder(PreemptionSamples.pod("c", 1, 1))
            .editMetadata()
            .addToLabels(key, "y")
            .endMetadata()
            .build();

    assertThat(gang(labelled).why()).isEqualTo(key + " x");
    assertThat(gang(annotated).key()).isEqualTo(gang(labelled).key());
    assertThat(gang(other).key()).isNotEqualTo(gang(labelled).key());
  }

  @Test
  void podsOfAParallelJobAreOneAndTheOnlyPodOfAJobIsNone() {
    Pod first = ofJob("a", "job-1", "Running");
    Pod second = ofJob("b", "job-1", "Running");
    Pod over = ofJob("c", "job-1", "Succeeded");
    Pod other = ofJob("d", "job-2", "Running");

    assertThat(Gang.of(first, namespace -> Gang.jobs(List.of(first, second, other))))
        .hasValueSatisfying(gang -> assertThat(gang.why()).isEqualTo("parallel Job job-1"));
    assertThat(Gang.of(first, namespace -> Gang.jobs(List.of(first, over, other)))).isEmpty();
  }

  @Test
  void aPodOfADeploymentIsAlone() {
    Pod pod = PreemptionSamples.pod("a", 1, 1);

    assertThat(Gang.of(pod, namespace -> Gang.jobs(List.of(pod, PreemptionSamples.pod("b", 1, 1)))))
        .isEmpty();
  }

  private static Gang gang(Pod pod) {
    return Gang.of(pod, namespace -> Gang.jobs(List.of())).orElseThrow();
  }

  private static Pod ofJob(String name, String job, String phase) {
    return new PodBuilder(PreemptionSamples.pod(name, 1, 1))
        .editMetadata()
        .addNewOwnerReference()
        .withKind("Job")
        .withName(job)
        .withUid(job + "-uid")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }
}
