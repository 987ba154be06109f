package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.pod.JobDeadlines;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** Sees what a turn needs beside the object. */
final class Observer {

  private final Cluster cluster;
  private final PodWrites pods;
  private final PodEvictor evictor;
  private final JobDeadlines jobs;
  private final Clock clock;
  private final StasisConfig config;

  Observer(
      Cluster cluster,
      PodWrites pods,
      PodEvictor evictor,
      KubernetesClient client,
      Clock clock,
      StasisConfig config) {
    this.cluster = cluster;
    this.pods = pods;
    this.evictor = evictor;
    this.jobs = new JobDeadlines(client, clock);
    this.clock = clock;
    this.config = config;
  }

  Turn look(GpuCheckpoint checkpoint) {
    if (checkpoint.getSpec().getImportFrom() != null) {
      // It needs no pod, and one of that name is another one.
      return turn(checkpoint, Optional.empty(), Optional.empty());
    }
    Optional<String> uid = podUid(checkpoint);
    Optional<Pod> pod = uid.isPresent() ? known(checkpoint, uid.get()) : first(checkpoint);
    Optional<Instant> jobDeadline = uid.isPresent() ? Optional.empty() : pod.flatMap(jobs::of);
    return turn(checkpoint, pod, jobDeadline);
  }

  private Turn turn(GpuCheckpoint checkpoint, Optional<Pod> pod, Optional<Instant> jobDeadline) {
    return new Turn(
        checkpoint, new Sight(cluster, pods, evictor, pod, jobDeadline, clock.instant(), config));
  }

  /** The pod that was frozen: another one of its name is not meant. */
  private static Optional<String> uidOf(GpuCheckpoint checkpoint) {
    return Optional.ofNullable(checkpoint.getStatus())
        .map(status -> status.getPod())
        .map(ObservedPod::uid);
  }

  private Optional<String> podUid(GpuCheckpoint checkpoint) {
    return Stream.concat(
            uidOf(checkpoint).stream(),
            cluster.operations(checkpoint.getMetadata().getUid()).stream()
                .map(operation -> operation.getSpec().getPod())
                .filter(Objects::nonNull)
                .map(OperationPod::uid))
        .findFirst();
  }

  private Optional<Pod> known(GpuCheckpoint checkpoint, String uid) {
    return cluster
        .pod(checkpoint.getMetadata().getNamespace(), checkpoint.getSpec().podName())
        .filter(pod -> uid.equals(pod.getMetadata().getUid()));
  }

  /** Before anything is refused because of the pod, it is asked for: a watch may lag behind. */
  private Optional<Pod> first(GpuCheckpoint checkpoint) {
    String namespace = checkpoint.getMetadata().getNamespace();
    String name = checkpoint.getSpec().podName();
    return cluster
        .pod(namespace, name)
        .filter(pod -> pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .or(() -> pods.fresh(namespace, name));
  }
}
