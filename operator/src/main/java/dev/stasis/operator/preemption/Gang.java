package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Pods that work together: one that is frozen alone lets the others wait for it, or fail.
 *
 * @param key the same for all of them
 * @param why what makes them one, in words
 */
record Gang(String key, String why) {

  /** Labels, and annotations, by which schedulers and controllers say which pods are one. */
  private static final List<String> KEYS =
      List.of(
          "jobset.sigs.k8s.io/jobset-name",
          "leaderworkerset.sigs.k8s.io/group-key",
          "leaderworkerset.sigs.k8s.io/name",
          "training.kubeflow.org/job-name",
          "trainer.kubeflow.org/trainjob-name",
          "mpi-job-name",
          "pytorch-job-name",
          "ray.io/cluster",
          "kueue.x-k8s.io/pod-group-name",
          "scheduling.x-k8s.io/pod-group",
          "pod-group.scheduling.sigs.k8s.io/name",
          "volcano.sh/job-name",
          "scheduling.k8s.io/group-name");

  /**
   * The gang of a pod; empty: it is alone.
   *
   * @param pods all of a namespace; asked only where that decides
   */
  static Optional<Gang> of(Pod pod, Function<String, List<Pod>> pods) {
    Map<String, String> labels =
        Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
    Map<String, String> annotations =
        Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    String namespace = pod.getMetadata().getNamespace() + "/";
    for (String key : KEYS) {
      String name = labels.getOrDefault(key, annotations.get(key));
      if (name != null) {
        return Optional.of(new Gang(namespace + key + "=" + name, key + " " + name));
      }
    }
    return job(pod)
        .filter(
            job ->
                pods.apply(pod.getMetadata().getNamespace()).stream()
                        .filter(it -> isOf(it, job))
                        .count()
                    > 1)
        .map(job -> new Gang(namespace + "job=" + job.getUid(), "parallel Job " + job.getName()));
  }

  private static Optional<OwnerReference> job(Pod pod) {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> "Job".equals(owner.getKind()))
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  private static boolean isOf(Pod pod, OwnerReference job) {
    return job(pod).filter(it -> it.getUid().equals(job.getUid())).isPresent()
        && !new PodState(pod).isOver();
  }
}
