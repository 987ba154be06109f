package dev.stasis.operator.preemption;

import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Pods that work together: while one of them is frozen the others wait for it, or fail.
 *
 * @param key the same for all of them
 * @param why in words
 */
record Gang(String key, String why) {

  /** Labels and annotations by which schedulers and controllers mark pods that work together. */
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
   * Returns the gang of a pod; empty if it has none.
   *
   * @param jobs how many pods each Job of a namespace has, by the Job's uid; called only for pods
   *     of Jobs
   */
  static Optional<Gang> of(Pod pod, Function<String, Map<String, Long>> jobs) {
    String namespace = pod.getMetadata().getNamespace() + "/";
    for (String key : KEYS) {
      String name = Marks.labels(pod).getOrDefault(key, Marks.annotations(pod).get(key));
      if (name != null) {
        return Optional.of(new Gang(namespace + key + "=" + name, key + " " + name));
      }
    }
    return job(pod)
        .filter(
            job -> jobs.apply(pod.getMetadata().getNamespace()).getOrDefault(job.getUid(), 0L) > 1)
        .map(job -> new Gang(namespace + "job=" + job.getUid(), "parallel Job " + job.getName()));
  }

  private static Optional<OwnerReference> job(Pod pod) {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> "Job".equals(owner.getKind()))
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  /** Returns the number of pods of each Job that have not ended, by its uid. */
  static Map<String, Long> jobs(List<Pod> pods) {
    return pods.stream()
        .filter(pod -> !new PodState(pod).isOver())
        .flatMap(pod -> job(pod).stream())
        .collect(Collectors.groupingBy(OwnerReference::getUid, Collectors.counting()));
  }
}
