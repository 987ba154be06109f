package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.RequestPods;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Conditions;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Observes everything that concerns one GpuCheckpoint. */
final class CheckpointObserver {

  private final Cluster cluster;
  private final PodWrites pods;
  private final EventRecorder events;
  private final UnexpandedCommands commands;
  private final RestorableCondition restorable;
  private final Function<Pod, Optional<Instant>> jobDeadlines;
  private final Clock clock;
  private final StasisConfig config;

  /**
   * @param jobDeadlines returns when the Job of a pod ends it
   */
  CheckpointObserver(
      Cluster cluster,
      PodWrites pods,
      EventRecorder events,
      Template template,
      RestorableCondition restorable,
      Function<Pod, Optional<Instant>> jobDeadlines,
      Clock clock,
      StasisConfig config) {
    this.cluster = cluster;
    this.pods = pods;
    this.events = events;
    this.commands = new UnexpandedCommands(template);
    this.restorable = restorable;
    this.jobDeadlines = jobDeadlines;
    this.clock = clock;
    this.config = config;
  }

  /** Observes it; the object has a status. */
  CheckpointContext observe(GpuCheckpoint checkpoint) {
    Instant now = clock.instant();
    List<OperationView> operations =
        cluster.operations(checkpoint.getMetadata().getUid()).stream()
            .map(OperationView::of)
            .toList();
    Optional<String> uid = podUid(checkpoint, operations);
    Optional<Pod> pod = Optional.empty();
    // The pod of an import does not exist; one with its name is another one.
    if (checkpoint.getSpec().getImportFrom() == null) {
      pod =
          uid.isPresent()
              ? known(checkpoint, uid.get())
              : new RequestPods(cluster, pods)
                  .named(checkpoint.getMetadata().getNamespace(), checkpoint.getSpec().podName());
    }
    CheckpointStatusUpdater updater = new CheckpointStatusUpdater(checkpoint, commands, now);
    CheckpointContext context =
        new CheckpointContext(
            checkpoint,
            updater,
            new CheckpointReporter(checkpoint, pod, updater, events, pods),
            restorable,
            cluster,
            pod,
            uid.isPresent() ? Optional.empty() : pod.flatMap(jobDeadlines),
            operations,
            Conditions.of(checkpoint.getStatus()),
            new Requeue(),
            config,
            now);
    updater.observes();
    return context;
  }

  private static Optional<String> podUid(GpuCheckpoint checkpoint, List<OperationView> operations) {
    return Stream.concat(
            Optional.ofNullable(checkpoint.getStatus().getPod()).map(ObservedPod::uid).stream(),
            operations.stream()
                .map(it -> it.operation().getSpec().getPod())
                .filter(Objects::nonNull)
                .map(OperationPod::uid))
        .findFirst();
  }

  /** Returns the pod that was frozen; another one with its name is not meant. */
  private Optional<Pod> known(GpuCheckpoint checkpoint, String uid) {
    return cluster
        .pod(checkpoint.getMetadata().getNamespace(), checkpoint.getSpec().podName())
        .filter(pod -> uid.equals(pod.getMetadata().getUid()));
  }
}
