package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what follows with SourceFirst once the source is being saved. The point of no return is
 * the removal of the source, which the GpuCheckpoint decides; what it decided is followed here.
 */
final class RelayDecider {

  /**
   * So long the place that its user wants is waited for while nothing runs. A scheduler finds a
   * free GPU at once; the place that the source has left is free in any case.
   */
  static final Duration PLACE = Duration.ofMinutes(2);

  /** Each can take another node than the one that is wanted. */
  private static final Set<String> NO_PLACE =
      Set.of(
          Reason.NO_NODE_FITS.word(),
          Reason.TARGET_NOT_SCHEDULED.word(),
          Reason.IMAGE_NOT_AVAILABLE.word());

  private static final Set<RestorePhase> WAITING =
      Set.of(RestorePhase.PENDING, RestorePhase.STARTING);

  /** Whether the migration has a GpuCheckpoint that is followed. */
  static boolean isOn(View view) {
    return view.migration().getSpec().getOrder() == MigrationOrder.SOURCE_FIRST
        && view.status().getCheckpoint() != null
        && !view.phase().isFinal()
        && view.decision().filter(it -> it == Decision.ROLL_BACK).isEmpty();
  }

  RelayNext next(RelayView seen) {
    return seen.view().decision().isPresent() ? removed(seen) : saving(seen);
  }

  /** The source is there, or its GpuCheckpoint has not said yet that it is not. */
  private static RelayNext saving(RelayView seen) {
    if (seen.checkpoint().isEmpty()) {
      return withoutCheckpoint(seen);
    }
    GpuCheckpoint checkpoint = seen.checkpoint().get();
    CheckpointPhase phase = seen.checkpointPhase();
    if (phase == CheckpointPhase.READY) {
      return new RelayNext.Commit();
    }
    if (phase.isFinal()) {
      return undone(seen);
    }
    Optional<Fault> stop = stop(seen.view());
    if (stop.isPresent() && !isCancelled(checkpoint)) {
      return new RelayNext.Stop(checkpoint, stop.get());
    }
    return follow(seen.saving(), "GpuCheckpoint " + checkpoint.getMetadata().getName());
  }

  /** It was deleted: then it has undone what it had begun, unless the source was gone by then. */
  private static RelayNext withoutCheckpoint(RelayView seen) {
    Fault fault =
        Decider.fault(
            Reason.OPERATION_FAILED,
            "GpuCheckpoint " + seen.view().status().getCheckpoint(),
            "that it stays until the pod has moved",
            "that it was deleted");
    boolean stays =
        seen.view()
            .source()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .isPresent();
    return stays
        ? new RelayNext.RollBack(List.of(fault))
        : new RelayNext.End(Reason.SOURCE_LOST, fault.message());
  }

  /** The GpuCheckpoint came to nothing: the source goes on, but for the worst. */
  private static RelayNext undone(RelayView seen) {
    Optional<Condition> source = seen.source();
    String said = source.map(Condition::message).orElse("");
    if (source.filter(it -> it.reason().equals(Reason.NOT_THAWED.word())).isPresent()) {
      return new RelayNext.Follow(Reason.NOT_THAWED, said);
    }
    if (source.filter(it -> it.status() == Truth.FALSE).isPresent()) {
      return new RelayNext.End(Reason.WORKLOAD_LOST, said);
    }
    if (source.filter(it -> it.status() == Truth.UNKNOWN).isPresent()) {
      return new RelayNext.End(Reason.OPERATION_FAILED, said);
    }
    List<Fault> faults = new ArrayList<>();
    stop(seen.view()).ifPresent(faults::add);
    if (faults.isEmpty() || seen.checkpointPhase() == CheckpointPhase.FAILED) {
      faults.addAll(seen.savingFaults());
    }
    return new RelayNext.RollBack(faults);
  }

  private static RelayNext removed(RelayView seen) {
    if (seen.number() == 0) {
      return bringBack(seen, 1, List.of());
    }
    if (seen.restore().isEmpty()) {
      return failed(
          seen,
          List.of(
              Decider.fault(
                  Reason.RESTORE_FAILED,
                  "GpuRestore " + seen.view().status().getRestore(),
                  "that it stays until the pod has moved",
                  "that it was deleted")));
    }
    GpuRestore restore = seen.restore().get();
    RestorePhase phase = seen.restorePhase();
    if (phase == RestorePhase.SUCCEEDED) {
      return new RelayNext.Arrive(restore);
    }
    if (phase.isFinal()) {
      List<Fault> known = seen.view().faults();
      // Given up here: why was written down then.
      boolean givenUp = seen.number() == 1 && phase == RestorePhase.CANCELLED && !known.isEmpty();
      return failed(seen, givenUp ? known : seen.restoringFaults());
    }
    boolean late =
        WAITING.contains(phase)
            && seen.restoring().filter(it -> NO_PLACE.contains(it.reason())).isPresent()
            && !seen.restoringSince().plus(PLACE).isAfter(seen.view().now());
    if (seen.number() == 1 && late && !isCancelled(restore)) {
      return new RelayNext.GiveUp(
          restore, seen.restoring().map(Condition::message).orElse("no node"));
    }
    boolean goesAlone = seen.number() > 1 && WAITING.contains(phase);
    if (goesAlone && seen.view().migration().getMetadata().getDeletionTimestamp() != null) {
      return new RelayNext.End(
          Reason.WAITING,
          "deleted while GpuRestore "
              + restore.getMetadata().getName()
              + " waits for a node: it goes on by itself");
    }
    return follow(seen.restoring(), "GpuRestore " + restore.getMetadata().getName());
  }

  /** A target is nothing to lose: it is tried once more, anywhere. */
  private static RelayNext failed(RelayView seen, List<Fault> faults) {
    return seen.number() == 1
        ? bringBack(seen, 2, faults)
        : new RelayNext.End(new Why(faults).reason(), new Why(faults).sentence());
  }

  private static RelayNext bringBack(RelayView seen, int number, List<Fault> before) {
    Optional<GpuCheckpoint> from =
        seen.checkpoint().filter(it -> it.getMetadata().getDeletionTimestamp() == null);
    if (from.isPresent() && !seen.namespaceGoes()) {
      return new RelayNext.BringBack(from.get(), number, before);
    }
    String found =
        seen.namespaceGoes() ? "that the namespace is being deleted" : "that it was deleted";
    Fault fault =
        Decider.fault(
            Reason.RESTORE_FAILED,
            "GpuCheckpoint " + seen.view().status().getCheckpoint(),
            "that it stays until the pod has moved",
            found);
    List<Fault> all = new ArrayList<>(before);
    all.add(fault);
    return new RelayNext.End(new Why(all).reason(), new Why(all).sentence());
  }

  /** What ends it from outside, as long as the source is there. */
  private static Optional<Fault> stop(View view) {
    if (view.isCancelled()) {
      return Optional.of(
          new Fault(Reason.CANCELLED.word(), null, null, null, null, null, "it was cancelled"));
    }
    return view.deadline().isAfter(view.now())
        ? Optional.empty()
        : Optional.of(
            Decider.fault(
                Reason.DEADLINE_EXCEEDED,
                "deadline",
                "the source saved within " + view.migration().getSpec().getDeadline().text(),
                "it in phase " + view.phase().word()));
  }

  private static RelayNext follow(Optional<Condition> said, String who) {
    return new RelayNext.Follow(
        said.map(it -> new Why(List.of(fault(it))).reason()).orElse(Reason.WAITING),
        who + said.map(it -> ": " + it.message()).orElse(": not looked at yet"));
  }

  private static Fault fault(Condition said) {
    return new Fault(said.reason(), null, null, null, null, null, said.message());
  }

  private static boolean isCancelled(GpuCheckpoint checkpoint) {
    return Boolean.TRUE.equals(checkpoint.getSpec().getCancel())
        || checkpoint.getMetadata().getDeletionTimestamp() != null;
  }

  private static boolean isCancelled(GpuRestore restore) {
    return Boolean.TRUE.equals(restore.getSpec().getCancel())
        || restore.getMetadata().getDeletionTimestamp() != null;
  }
}
