package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Course;
import java.util.List;
import java.util.Optional;

/** The GpuCheckpoints that suspend and resume pods. */
final class Suspensions {

  private final Cluster cluster;
  private final List<Resource> all;

  /**
   * Lists them.
   *
   * @param options kubectl's options that select some
   */
  Suspensions(Cluster cluster, String... options) {
    this.cluster = cluster;
    all =
        cluster.list(List.of(Kind.CHECKPOINT), new Scope.Current(), options).stream()
            .filter(one -> one.text("spec.afterCheckpoint").equals("Suspend"))
            .filter(one -> !new Course(one).isBad())
            .filter(one -> one.text("metadata.deletionTimestamp").isEmpty())
            .toList();
  }

  /** Finds those of a pod, which an earlier pod with its name does not concern. */
  List<Resource> ofPod(String pod) {
    List<Resource> named =
        all.stream().filter(one -> one.text("spec.podRef.name").equals(pod)).toList();
    if (named.isEmpty()) {
      return named;
    }
    String uid =
        cluster
            .find(Kind.POD, new Scope.Current(), pod)
            .map(there -> there.text("metadata.uid"))
            .orElse("");
    return named.stream()
        .filter(one -> List.of("", uid).contains(one.text("status.pod.uid")))
        .toList();
  }

  /** Returns whether one suspends its pod, or is about to. */
  static boolean isSuspending(Resource one) {
    return !one.text("spec.desiredState").equals("Running");
  }

  /** Returns all that currently suspend a pod. A time-sliced pod is resumed by its queue. */
  List<Resource> suspended() {
    return all.stream()
        .filter(Suspensions::isSuspending)
        .filter(one -> one.text("spec.options.timeSlice").isEmpty())
        .toList();
  }

  /**
   * Finds one that currently suspends a pod: by the pod's name, or its own. One that waits for
   * another is not it.
   */
  Optional<Resource> suspended(String podOrName) {
    return all.stream()
        .filter(Suspensions::isSuspending)
        .filter(
            one -> one.text("spec.podRef.name").equals(podOrName) || one.name().equals(podOrName))
        .reduce((first, second) -> new Course(first).isDone() ? first : second);
  }
}
