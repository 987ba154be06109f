package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A workload that shares its GPUs by turns: what the {@link TimeSliceQueue} says of it, and how it
 * is told.
 *
 * @param turn in which it is looked at
 */
record TimeSliceScheduler(Turn turn) {

  /** Phases of a pod whose containers have ended: it needs its GPU no more. */
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private static final TimeSliceQueue ROTA = new TimeSliceQueue();

  /** Whether it takes turns at all. */
  boolean isOn() {
    return turn.spec().getTimeSlice() != null
        && turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && !turn.spec().getOptions().getDryRun();
  }

  TimeSliceQueue.Verdict verdict() {
    List<GpuCheckpoint> onNode =
        turn.node().map(turn.cluster()::podsOn).orElse(List.of()).stream()
            .filter(pod -> pod.getStatus() == null || !ENDED.contains(pod.getStatus().getPhase()))
            .flatMap(this::of)
            .toList();
    return ROTA.decide(turn.object(), onNode, turn.now());
  }

  /** Those of that very pod; an older one of its name is another workload. */
  private java.util.stream.Stream<GpuCheckpoint> of(Pod pod) {
    return turn
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

  /** Its turn, or its waiting, begins now. */
  void restart() {
    if (isOn()) {
      GpuTurn before = turn.status().getTurn();
      turn.status()
          .setTurn(new GpuTurn(before == null ? null : before.place(), null, turn.now(), null));
    }
  }

  /** It is suspended, and another one runs or comes first. */
  void waiting() {
    TimeSliceQueue.Verdict verdict = verdict();
    boolean keptOut = turn.spec().getDesiredState() == DesiredState.SUSPENDED;
    say(keptOut ? null : verdict.place(), verdict.holder().map(this::name), verdict.until());
    // What it waits for tells of itself; a pod that hangs does not.
    turn.again(turn.config().lookAgainEvery());
    boolean failedBefore = turn.status().getFaults() != null;
    if (!keptOut && !failedBefore && turn.status().getArtifact() == null) {
      String holder =
          verdict
              .holder()
              .map(
                  it -> ", " + name(it) + " has the GPU" + verdict.until().map(this::at).orElse(""))
              .orElse("");
      turn.report()
          .rests(Reason.WAITS_FOR_ITS_TURN, "suspended; place " + verdict.place() + holder);
    }
  }

  /** It runs. */
  void running() {
    if (!isOn()) {
      return;
    }
    TimeSliceQueue.Verdict verdict = verdict();
    say(0, Optional.of(turn.spec().podName()), verdict.until());
    verdict.until().ifPresent(turn::againAt);
    if (turn.status().getArtifact() == null) {
      turn.report()
          .rests(
              Reason.HAS_ITS_TURN,
              verdict.until().isPresent()
                  ? "has its turn" + at(verdict.until().get())
                  : "has the GPU; nobody waits for it");
    }
  }

  private void say(@Nullable Integer place, Optional<String> holder, Optional<Instant> until) {
    GpuTurn before = turn.status().getTurn();
    Instant since = before == null ? null : before.since();
    turn.status()
        .setTurn(
            new GpuTurn(
                place,
                holder.orElse(null),
                since == null ? turn.status().getSuspendedTime() : since,
                until.orElse(null)));
  }

  private String name(GpuCheckpoint other) {
    return other.getMetadata().getNamespace().equals(turn.namespace())
        ? other.getSpec().podName()
        : "a pod of another namespace";
  }

  private String at(Instant until) {
    return " until " + until.truncatedTo(ChronoUnit.SECONDS);
  }
}
