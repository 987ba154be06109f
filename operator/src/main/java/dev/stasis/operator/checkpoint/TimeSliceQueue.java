package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedGpu;
import dev.stasis.operator.status.CurrentPhase;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Workloads that share GPUs in time slices: one runs, the others are suspended. Each decides for
 * itself from the statuses of the others, which may be outdated. A workload resumes only once all
 * others are known to be suspended, and only the one that has waited longest. Because that time
 * only grows, two never resume at once, however outdated the statuses are. If they did (a user lets
 * one run), the agent resumes no workload without free device memory for it.
 */
final class TimeSliceQueue {

  /**
   * The state of one of them.
   *
   * @param runs whether it has the GPU, or gets it now
   * @param place how many are before it; 0 if it has the GPU
   * @param holder the other one that is not suspended; empty if there is none
   * @param until end of its time slice, or the holder's; empty if none waits
   */
  record Verdict(
      boolean runs, int place, Optional<GpuCheckpoint> holder, Optional<Instant> until) {}

  /** Those that are no longer time-sliced first, then the one that has waited longest. */
  private static final Comparator<GpuCheckpoint> NEXT_FIRST =
      Comparator.comparing((GpuCheckpoint it) -> !leaves(it))
          .thenComparing(TimeSliceQueue::since)
          .thenComparing(it -> it.getMetadata().getUid());

  /**
   * Decides whether a workload runs or waits.
   *
   * @param own with a slice
   * @param onNode all of its node; those without a time slice do not count
   */
  Verdict decide(GpuCheckpoint own, Collection<GpuCheckpoint> onNode, Instant now) {
    List<GpuCheckpoint> others = onNode.stream().filter(it -> sharesWith(own, it)).toList();
    Optional<GpuCheckpoint> holder = others.stream().filter(it -> !isSuspended(it)).min(NEXT_FIRST);
    CheckpointPhase phase = CurrentPhase.of(own);
    if (phase == CheckpointPhase.SUSPENDED) {
      long before =
          others.stream()
              .filter(it -> isSuspended(it) && wants(it) && NEXT_FIRST.compare(it, own) < 0)
              .count();
      boolean runs = wants(own) && holder.isEmpty() && before == 0;
      int place = (int) before + (holder.isPresent() ? 1 : 0);
      return new Verdict(
          runs, runs ? 0 : Math.max(1, place), holder, holder.flatMap(TimeSliceQueue::end));
    }
    boolean waited = others.stream().anyMatch(it -> isSuspended(it) && wants(it));
    if (leaves(own) || phase == CheckpointPhase.RESUMING) {
      return new Verdict(true, 0, Optional.empty(), Optional.empty());
    }
    if (suspensions(own) == 0
        || (phase != CheckpointPhase.PENDING && phase != CheckpointPhase.READY)) {
      // A new one waits for its time slice as the others do.
      return new Verdict(false, 1, holder, holder.flatMap(TimeSliceQueue::end));
    }
    Optional<Instant> end = waited ? end(own) : Optional.empty();
    boolean runs = end.map(now::isBefore).orElse(true);
    return new Verdict(runs, runs ? 0 : 1, Optional.empty(), end);
  }

  /** Returns whether it is to run without time slices; also if it is deleted or canceled. */
  static boolean leaves(GpuCheckpoint one) {
    return one.getSpec().getDesiredState() == DesiredState.RUNNING
        || Boolean.TRUE.equals(one.getSpec().getOptions().getCancel())
        || one.getMetadata().getDeletionTimestamp() != null;
  }

  /** Returns whether it is to resume; its user may keep it suspended. */
  private static boolean wants(GpuCheckpoint one) {
    return leaves(one) || one.getSpec().getDesiredState() == DesiredState.AUTO;
  }

  private static boolean sharesWith(GpuCheckpoint own, GpuCheckpoint other) {
    if (own.getMetadata().getUid().equals(other.getMetadata().getUid())
        || other.getSpec().getOptions().getTimeSlice() == null
        || CurrentPhase.of(other).isFinal()) {
      return false;
    }
    Set<String> mine = gpus(own);
    Set<String> its = gpus(other);
    // Before the agent has reported them, they may be the same.
    return mine.isEmpty() || its.isEmpty() || mine.stream().anyMatch(its::contains);
  }

  /** Returns the GPUs that the agent has reported. */
  private static Set<String> gpus(GpuCheckpoint checkpoint) {
    Hardware hardware = status(checkpoint).getHardware();
    List<ObservedGpu> gpus = hardware == null ? null : hardware.gpus();
    return Objects.requireNonNullElse(gpus, List.<ObservedGpu>of()).stream()
        .map(ObservedGpu::uuid)
        .collect(Collectors.toSet());
  }

  /** Returns whether it holds no device memory, as its agent has reported. */
  private static boolean isSuspended(GpuCheckpoint one) {
    return CurrentPhase.of(one) == CheckpointPhase.SUSPENDED;
  }

  private static Optional<Instant> end(GpuCheckpoint one) {
    return Optional.ofNullable(one.getSpec().getOptions().getTimeSlice())
        .filter(slice -> !leaves(one) && suspensions(one) > 0)
        .map(slice -> since(one).plus(slice.duration()));
  }

  private static Instant since(GpuCheckpoint one) {
    GpuTurn turn = status(one).getTurn();
    Instant said = turn == null ? null : turn.since();
    Instant suspended = status(one).getSuspendedTime();
    return said != null ? said : Objects.requireNonNullElse(suspended, Instant.EPOCH);
  }

  private static int suspensions(GpuCheckpoint one) {
    return Objects.requireNonNullElse(status(one).getSuspensions(), 0);
  }

  private static GpuCheckpointStatus status(GpuCheckpoint checkpoint) {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }
}
