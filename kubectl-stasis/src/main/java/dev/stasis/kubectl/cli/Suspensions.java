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

  private final List<Resource> all;

  /**
   * Lists them.
   *
   * @param options kubectl's options that select some
   */
  Suspensions(Cluster cluster, String... options) {
    all =
        cluster.list(List.of(Kind.CHECKPOINT), new Scope.Current(), options).stream()
            .filter(one -> one.text("spec.afterCheckpoint").equals("Suspend"))
            .filter(one -> !new Course(one).isBad())
            .filter(one -> one.text("metadata.deletionTimestamp").isEmpty())
            .toList();
  }

  /** Finds one that suspended the pod before, and can do so again. */
  Optional<Resource> resumed(String pod) {
    return all.stream()
        .filter(one -> one.text("spec.podRef.name").equals(pod))
        .filter(one -> one.text("spec.desiredState").equals("Running"))
        .reduce((first, second) -> second);
  }

  /** Returns all that currently suspend a pod. A time-sliced pod is resumed by its queue. */
  List<Resource> suspended() {
    return all.stream()
        .filter(one -> !one.text("spec.desiredState").equals("Running"))
        .filter(one -> one.text("spec.options.timeSlice").isEmpty())
        .toList();
  }

  /** Finds one that currently suspends a pod: by the pod's name, or its own. */
  Optional<Resource> suspended(String podOrName) {
    return all.stream()
        .filter(one -> !one.text("spec.desiredState").equals("Running"))
        .filter(
            one -> one.text("spec.podRef.name").equals(podOrName) || one.name().equals(podOrName))
        .reduce((first, second) -> second);
  }
}
