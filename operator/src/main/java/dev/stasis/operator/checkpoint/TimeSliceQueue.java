package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedGpu;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Workloads that share GPUs by turns: one runs, the others are suspended. Each decides for itself
 * from what it sees of the others, which may be old. Nobody goes on before all others are seen to
 * stand still, and only who has waited for the longest: since that time only grows, two never go on
 * at once, however old what they see is. Should they all the same (a person lets one run on), the
 * agent resumes nobody for whom there is no free device memory.
 */
final class TimeSliceQueue {

  /**
   * Where one of them stands.
   *
   * @param runs it has its turn, or is to have it now
   * @param place how many go before it; 0 when it has its turn
   * @param holder the one that does not stand still; empty when it is this one, or nobody
   * @param until when its turn, or the holder's, is over; empty while nobody waits
   */
  record Verdict(
      boolean runs, int place, Optional<GpuCheckpoint> holder, Optional<Instant> until) {}

  /** Those that leave the others first, since they come for good; then who has waited longest. */
  private static final Comparator<GpuCheckpoint> NEXT_FIRST =
      Comparator.comparing((GpuCheckpoint it) -> !leaves(it))
          .thenComparing(TimeSliceQueue::since)
          .thenComparing(it -> it.getMetadata().getUid());

  /**
   * Decides for one of them.
   *
   * @param own with a slice
   * @param onNode all that freeze a pod of its node; those that take no turns do not count
   */
  Verdict decide(GpuCheckpoint own, Collection<GpuCheckpoint> onNode, Instant now) {
    List<GpuCheckpoint> others = onNode.stream().filter(it -> sharesWith(own, it)).toList();
    Optional<GpuCheckpoint> holder = others.stream().filter(it -> !standsStill(it)).min(NEXT_FIRST);
    CheckpointPhase phase = phase(own);
    if (phase == CheckpointPhase.SUSPENDED) {
      long before =
          others.stream()
              .filter(it -> standsStill(it) && wants(it) && NEXT_FIRST.compare(it, own) < 0)
              .count();
      boolean runs = wants(own) && holder.isEmpty() && before == 0;
      int place = (int) before + (holder.isPresent() ? 1 : 0);
      return new Verdict(
          runs, runs ? 0 : Math.max(1, place), holder, holder.flatMap(TimeSliceQueue::end));
    }
    boolean waited = others.stream().anyMatch(it -> standsStill(it) && wants(it));
    if (leaves(own) || phase == CheckpointPhase.RESUMING) {
      return new Verdict(true, 0, Optional.empty(), Optional.empty());
    }
    if (suspensions(own) == 0
        || (phase != CheckpointPhase.PENDING && phase != CheckpointPhase.READY)) {
      // Who joins waits for its turn like everybody else.
      return new Verdict(false, 1, holder, holder.flatMap(TimeSliceQueue::end));
    }
    Optional<Instant> end = waited ? end(own) : Optional.empty();
    boolean runs = end.map(now::isBefore).orElse(true);
    return new Verdict(runs, runs ? 0 : 1, Optional.empty(), end);
  }

  /** Whether its user has it run, for good: what is deleted or cancelled is resumed first. */
  static boolean leaves(GpuCheckpoint one) {
    return one.getSpec().getDesiredState() == DesiredState.RUNNING
        || Boolean.TRUE.equals(one.getSpec().getCancel())
        || one.getMetadata().getDeletionTimestamp() != null;
  }

  /** Whether it would go on; its user may keep it suspended. */
  private static boolean wants(GpuCheckpoint one) {
    return leaves(one) || one.getSpec().getDesiredState() == DesiredState.AUTO;
  }

  private static boolean sharesWith(GpuCheckpoint own, GpuCheckpoint other) {
    if (own.getMetadata().getUid().equals(other.getMetadata().getUid())
        || other.getSpec().getTimeSlice() == null
        || phase(other).isFinal()) {
      return false;
    }
    Set<String> mine = gpus(own);
    Set<String> its = gpus(other);
    // Where nobody has looked yet it may be the same one.
    return mine.isEmpty() || its.isEmpty() || mine.stream().anyMatch(its::contains);
  }

  /** As the agent has seen them. */
  private static Set<String> gpus(GpuCheckpoint checkpoint) {
    Hardware hardware = status(checkpoint).getHardware();
    List<ObservedGpu> gpus = hardware == null ? null : hardware.gpus();
    return Objects.requireNonNullElse(gpus, List.<ObservedGpu>of()).stream()
        .map(ObservedGpu::uuid)
        .collect(Collectors.toSet());
  }

  /** It holds no device memory: its agent said so. */
  private static boolean standsStill(GpuCheckpoint one) {
    return phase(one) == CheckpointPhase.SUSPENDED;
  }

  private static Optional<Instant> end(GpuCheckpoint one) {
    return Optional.ofNullable(one.getSpec().getTimeSlice())
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

  private static CheckpointPhase phase(GpuCheckpoint one) {
    return Objects.requireNonNullElse(status(one).getPhase(), CheckpointPhase.PENDING);
  }

  private static GpuCheckpointStatus status(GpuCheckpoint checkpoint) {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }
}
