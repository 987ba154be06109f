package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Applies the verdict of the {@link TimeSliceQueue} to a workload that shares its GPUs with others.
 *
 * @param context the GpuCheckpoint of the workload
 */
record TimeSliceScheduler(CheckpointContext context) {

  private static final TimeSliceQueue QUEUE = new TimeSliceQueue();

  /** Returns whether the workload is time-sliced. */
  boolean isOn() {
    return context.spec().getOptions().getTimeSlice() != null && context.suspends();
  }

  TimeSliceQueue.Verdict verdict() {
    List<GpuCheckpoint> onNode =
        context.node().map(context.cluster()::podsOn).orElse(List.of()).stream()
            .filter(pod -> !new PodState(pod).isOver())
            .flatMap(this::of)
            .toList();
    return QUEUE.decide(context.object(), onNode, context.now());
  }

  /** Returns the checkpoints of a pod; those of an older pod with its name are not meant. */
  private Stream<GpuCheckpoint> of(Pod pod) {
    return context
        .cluster()
        .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
        .stream()
        .filter(
            it ->
                Optional.ofNullable(it.getStatus())
                    .map(status -> status.getPod())
                    .map(ObservedPod::uid)
                    .map(uid -> uid.equals(pod.getMetadata().getUid()))
                    .orElse(true));
  }

  /** Its time slice, or its wait for one, begins now. */
  void restart() {
    if (isOn()) {
      GpuTurn before = context.status().getTurn();
      context
          .status()
          .setTurn(new GpuTurn(before == null ? null : before.place(), null, context.now(), null));
    }
  }

  /** Reports that it is suspended, and that another workload runs or comes first. */
  void waiting() {
    TimeSliceQueue.Verdict verdict = verdict();
    boolean keptOut = context.spec().getDesiredState() == DesiredState.SUSPENDED;
    report(keptOut ? null : verdict.place(), verdict.holder().map(this::name), verdict.until());
    // A pod that hangs triggers no event.
    context.poll();
    boolean failedBefore = context.status().getFaults() != null;
    if (!keptOut && !failedBefore && context.status().getArtifact() == null) {
      String holder =
          verdict
              .holder()
              .map(
                  it -> ", " + name(it) + " has the GPU" + verdict.until().map(this::at).orElse(""))
              .orElse("");
      context
          .updater()
          .rests(Reason.WAITS_FOR_TURN, "suspended; place " + verdict.place() + holder);
    }
  }

  /** Reports that it runs. */
  void running() {
    if (!isOn()) {
      return;
    }
    TimeSliceQueue.Verdict verdict = verdict();
    report(0, Optional.of(context.spec().podName()), verdict.until());
    verdict.until().ifPresent(context::requeueAt);
    if (context.status().getArtifact() == null) {
      context
          .updater()
          .rests(
              Reason.HAS_TURN,
              verdict.until().isPresent()
                  ? "has its time slice" + at(verdict.until().get())
                  : "has the GPU; no other workload waits for it");
    }
  }

  private void report(@Nullable Integer place, Optional<String> holder, Optional<Instant> until) {
    GpuTurn before = context.status().getTurn();
    Instant since = before == null ? null : before.since();
    context
        .status()
        .setTurn(
            new GpuTurn(
                place,
                holder.orElse(null),
                since == null ? context.status().getSuspendedTime() : since,
                until.orElse(null)));
  }

  private String name(GpuCheckpoint other) {
    return other.getMetadata().getNamespace().equals(context.namespace())
        ? other.getSpec().podName()
        : "a pod of another namespace";
  }

  private String at(Instant until) {
    return " until " + until.truncatedTo(ChronoUnit.SECONDS);
  }
}
