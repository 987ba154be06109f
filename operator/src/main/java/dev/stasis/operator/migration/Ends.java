package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.metric.Tally;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.Mark;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The point of no return, what follows from it, and the ends. */
@Singleton
class Ends {

  /**
   * How long after the decision a PodDisruptionBudget may still refuse the eviction of the source.
   * It allowed it before the freeze, so mostly its controller has only to count the target. One
   * that changed since is not obeyed for longer: what it would keep is a frozen copy that serves
   * nobody, never runs again and holds a GPU, while the proven target runs.
   */
  private static final Duration BUDGET = Duration.ofSeconds(30);

  private final PodWrites pods;
  private final Targets targets;
  private final TargetWork work;
  private final Adoption adoption;
  private final Throttle throttle;
  private final Events events;
  private final StasisMetrics metrics;
  private final Tally tally;

  Ends(
      PodWrites pods,
      Targets targets,
      TargetWork work,
      Adoption adoption,
      Throttle throttle,
      Events events,
      StasisMetrics metrics,
      Tally tally) {
    this.pods = pods;
    this.targets = targets;
    this.work = work;
    this.adoption = adoption;
    this.throttle = throttle;
    this.events = events;
    this.metrics = metrics;
    this.tally = tally;
  }

  void perform(Next next, View view, Ledger ledger) {
    if (next instanceof Next.SwitchOver proven) {
      // The write of the status is the decision: nothing is done before it is there.
      ledger.switchesOver(view, proven);
    } else if (next instanceof Next.RollBack back) {
      ledger.rollsBack(back.faults(), view);
    } else if (next instanceof Next.HandOver over) {
      handOver(view, over, ledger);
    } else if (next instanceof Next.RemoveSource remove) {
      removeSource(view, remove.source(), ledger);
    } else if (next instanceof Next.Succeed) {
      succeed(view, ledger);
    } else if (next instanceof Next.Undone) {
      undone(view, ledger);
    } else if (next instanceof Next.Lose lose) {
      lose(view, lose, ledger);
    }
  }

  /** Says on the source whether it stands still. */
  void mark(View view) {
    boolean decided = view.decision().filter(it -> it == Decision.SWITCH_OVER).isPresent();
    if (view.source().isEmpty() || view.work().freeze().isEmpty() || decided) {
      return;
    }
    OperationView freeze = view.work().freeze().get();
    WorkloadState state = freeze.workload();
    String by = "GpuMigration " + view.migration().getMetadata().getName();
    if (freeze.isLeftFrozen()) {
      pods.condition(
          view.source().get(),
          Mark.frozen(
              Reason.NOT_THAWED.word(),
              "frozen by " + by + "; its agent tries again to thaw it until it runs"));
    } else if (state == WorkloadState.FROZEN) {
      pods.condition(
          view.source().get(),
          Mark.frozen(
              Reason.FROZEN.word(), "frozen by " + by + ", which moves it to another node"));
    } else if (state == WorkloadState.RUNNING) {
      pods.condition(
          view.source().get(), Mark.notFrozen(Reason.RESUMED.word(), "the workload goes on"));
    }
  }

  private void handOver(View view, Next.HandOver over, Ledger ledger) {
    open(view);
    Pod was = work.original(view, view.source().orElse(over.target()));
    String sentence = adoption.step(was, view.source(), over.target(), over.owner());
    ledger.waits(
        new Next.Wait(MigrationPhase.SWITCHING_OVER, Reason.SWITCHED_OVER, sentence), view);
  }

  private void removeSource(View view, Pod source, Ledger ledger) {
    open(view);
    PodWrites.Answer answer = pods.evict(source, false);
    if (answer instanceof PodWrites.Refused refused) {
      warn(view, refused.sentence(), "eviction");
      ledger.waits(
          new Next.Wait(MigrationPhase.SWITCHING_OVER, Reason.EVICTION_REFUSED, refused.sentence()),
          view);
      if (!refused.later() || view.decided().plus(BUDGET).isBefore(view.now())) {
        warn(
            view,
            "pod %s is deleted in spite of that: it is the frozen copy, and the target runs"
                .formatted(source.getMetadata().getName()),
            "deletion");
        targets.remove(source);
      }
    }
  }

  private void warn(View view, String sentence, String occasion) {
    events.tell(Story.warning(view.migration(), Reason.EVICTION_REFUSED, sentence, occasion));
  }

  /** The gate of the target; an operator that dies before finds that it is closed. */
  private void open(View view) {
    String by = "moved by GpuMigration " + view.migration().getMetadata().getName();
    view.target()
        .ifPresent(target -> pods.condition(target, Mark.restored(true, Reason.PROVEN.word(), by)));
  }

  private void succeed(View view, Ledger ledger) {
    open(view);
    boolean raised =
        view.target().isPresent()
            && work.raised(view, view.target().get(), container(view)).isPresent();
    ledger.succeeded(raised);
    throttle.giveBack(view.migration());
    String sentence = Objects.requireNonNullElse(view.status().getMessage(), "");
    events.tell(Story.normal(view.migration(), Reason.PROVEN, sentence, "end"));
    view.target()
        .ifPresent(
            pod ->
                events.tell(
                    Story.normal(pod, Reason.PROVEN, by(view) + sentence, uid(view) + "/end")));
    counts(view, MigrationPhase.SUCCEEDED, Reason.PROVEN, () -> figures(view));
  }

  private void undone(View view, Ledger ledger) {
    // An operator that died after it ordered the freeze may never have written that phase.
    boolean touched =
        view.work().freeze().isPresent()
            || Objects.requireNonNullElse(
                    view.status().getPhases(), List.<PhaseTime<MigrationPhase>>of())
                .stream()
                .anyMatch(it -> it.phase() == MigrationPhase.FREEZING);
    boolean cancelled =
        view.faults().stream().anyMatch(it -> it.reason().equals(Reason.CANCELLED.word()));
    boolean raised =
        view.status().getRoom() != null && view.status().getRoom().originalLimit() != null;
    view.source()
        .filter(pod -> touched)
        .ifPresent(
            pod ->
                pods.condition(
                    pod, Mark.notFrozen(Reason.RESUMED.word(), "the migration was undone")));
    ledger.undone(cancelled, touched, raised);
    throttle.giveBack(view.migration());
    Reason reason = new Why(view.faults()).reason();
    String sentence = Objects.requireNonNullElse(view.status().getMessage(), "");
    Story onObject =
        cancelled
            ? Story.normal(view.migration(), Reason.CANCELLED, sentence, "end")
            : Story.warning(view.migration(), reason, sentence, "end");
    events.tell(onObject);
    view.source()
        .filter(pod -> touched)
        .ifPresent(
            pod ->
                events.tell(
                    Story.warning(
                        pod, Reason.ROLLED_BACK, by(view) + sentence, uid(view) + "/end")));
    counts(view, view.phase(), reason, () -> {});
  }

  private void lose(View view, Next.Lose lose, Ledger ledger) {
    String where =
        view.artifact()
            .map(
                it ->
                    "; its artifact stays at %s in store %s%s"
                        .formatted(
                            it.getLocation(),
                            it.getStore(),
                            it.getNode() == null ? "" : " on node " + it.getNode()))
            .orElse("");
    String because =
        view.faults().isEmpty() ? "" : "; before that: " + new Why(view.faults()).sentence();
    ledger.loses(lose.reason(), lose.sentence() + where + because);
    throttle.giveBack(view.migration());
    events.tell(
        Story.warning(
            view.migration(),
            lose.reason(),
            Objects.requireNonNullElse(view.status().getMessage(), ""),
            "end"));
    counts(view, MigrationPhase.FAILED, lose.reason(), metrics::workloadLost);
  }

  /** Once the end is written. */
  void counts(View view, MigrationPhase end, Reason reason, Runnable figures) {
    tally.onceWritten(
        view.migration(),
        end.word(),
        () -> {
          metrics.ended(RequesterKind.MIGRATION.kind(), end.word(), reason.word());
          figures.run();
        });
  }

  private void figures(View view) {
    GpuMigrationStatus status = view.status();
    if (status.getDowntimeMilliseconds() != null) {
      metrics.downtime(Duration.ofMillis(status.getDowntimeMilliseconds()));
    }
    String path =
        view.work()
            .freeze()
            .map(it -> it.status().getDataPath())
            .map(it -> it.word())
            .orElse("None");
    CheckpointTimings freeze = status.getTimings();
    if (freeze != null) {
      step("lock", path, freeze.getLockMilliseconds());
      step("gpu-checkpoint", path, freeze.getGpuCheckpointMilliseconds());
      step("move", path, freeze.getMoveMilliseconds());
      step("dump", path, freeze.getDumpMilliseconds());
      step("store", path, freeze.getStoreMilliseconds());
    }
    RestoreTimings restore = status.getTargetTimings();
    if (restore != null) {
      step("restore", path, restore.getRestoreMilliseconds());
      step("fill", path, restore.getFillMilliseconds());
      step("gpuRestore", path, restore.getGpuRestoreMilliseconds());
    }
  }

  private void step(String step, String path, @Nullable Long milliseconds) {
    if (milliseconds != null) {
      metrics.step(RequesterKind.MIGRATION.kind(), step, path, Duration.ofMillis(milliseconds));
    }
  }

  private static String container(View view) {
    return view.status().getTarget() == null
        ? ""
        : Objects.requireNonNullElse(view.status().getTarget().container(), "");
  }

  private static String by(View view) {
    return "GpuMigration " + view.migration().getMetadata().getName() + ": ";
  }

  private static String uid(View view) {
    return view.migration().getMetadata().getUid();
  }

  /** For whoever lets the object go. */
  void forget(GpuMigration migration) {
    throttle.giveBack(migration);
  }
}
