package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Namespace;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * SourceFirst: a GpuCheckpoint saves the source and removes it, then a GpuRestore brings it back
 * elsewhere. Both know all there is to know of their half; here they are made, followed and
 * forgotten.
 */
@Singleton
class Relay {

  /** What was written down is to be acted upon; long enough for the write to be in the cache. */
  private static final Duration AT_ONCE = Duration.ofMillis(20);

  /** A kubelet lowers a limit within moments, or never. */
  private static final Duration RAISED = Duration.ofMinutes(5);

  private final RelayObjects objects;
  private final Cluster cluster;
  private final Ends ends;
  private final Events events;
  private final StasisMetrics metrics;
  private final StasisConfig config;
  private final Clock clock;
  private final RelayDecider decider = new RelayDecider();

  Relay(
      RelayObjects objects,
      Cluster cluster,
      Ends ends,
      Events events,
      StasisMetrics metrics,
      StasisConfig config,
      Clock clock) {
    this.objects = objects;
    this.cluster = cluster;
    this.ends = ends;
    this.events = events;
    this.metrics = metrics;
    this.config = config;
    this.clock = clock;
  }

  /** Has the source saved. */
  Duration begin(View view, Next.Save save) {
    RelayLedger ledger = new RelayLedger(view.migration(), clock);
    Optional<String> refused = objects.save(view, save.source());
    if (refused.isPresent()) {
      ledger.waits(Reason.REFUSED_BY_CLUSTER, refused.get());
      ends.forget(view.migration());
      return new Backoff(config.lookAgainEvery(), Backoff.PATIENT)
          .after(view.entered(), view.now());
    }
    String name = RelayObjects.name(view.migration());
    ledger.saves(name);
    tell(
        view,
        Reason.IN_PROGRESS,
        "GpuCheckpoint " + name + " saves it; it is removed before its target comes",
        "save");
    return AT_ONCE;
  }

  /**
   * The next step.
   *
   * @return when to look again
   */
  Duration step(View view) {
    RelayView seen = look(view);
    RelayLedger ledger = new RelayLedger(view.migration(), clock);
    RelayNext next = decider.next(seen);
    ledger.sees(seen);
    if (next instanceof RelayNext.Follow follow) {
      ledger.waits(follow.reason(), follow.sentence());
      return config.lookAgainEvery();
    }
    if (next instanceof RelayNext.Stop stop) {
      ledger.waits(
          new Why(List.of(stop.why())).reason(), "is being undone: " + stop.why().message());
      objects.cancel(stop.checkpoint());
      return config.lookAgainEvery();
    }
    if (next instanceof RelayNext.RollBack back) {
      new Ledger(view.migration(), clock).rollsBack(back.faults(), view);
    } else if (next instanceof RelayNext.Commit) {
      ledger.commits();
      tell(view, Reason.EVICTED, RelayLedger.NO_WAY_BACK, "removed");
    } else if (next instanceof RelayNext.BringBack back) {
      return bringBack(view, back, ledger);
    } else if (next instanceof RelayNext.GiveUp up) {
      ledger.givesUp(
          Decider.fault(
              Reason.TARGET_NOT_SCHEDULED,
              "target",
              "a place within " + RelayDecider.PLACE.toSeconds() + "s",
              up.sentence()));
      objects.cancel(up.restore());
    } else if (next instanceof RelayNext.Arrive arrive) {
      ledger.arrived(seen, arrive.restore());
      over(view);
    } else if (next instanceof RelayNext.End end) {
      ledger.ended(end.reason(), end.sentence() + remains(view));
      over(view);
    }
    return AT_ONCE;
  }

  private Duration bringBack(View view, RelayNext.BringBack back, RelayLedger ledger) {
    Optional<String> refused = objects.bringBack(view.migration(), back.from(), back.number());
    if (refused.isPresent()) {
      ledger.waits(Reason.REFUSED_BY_CLUSTER, refused.get());
      return config.lookAgainEvery();
    }
    String name = RelayObjects.name(view.migration(), back.number());
    ledger.bringsBack(name, back.before());
    String sentence = Objects.requireNonNullElse(view.status().getMessage(), "");
    events.tell(
        back.before().isEmpty()
            ? Story.normal(view.migration(), Reason.TARGET_STARTING, sentence, name)
            : Story.warning(view.migration(), new Why(back.before()).reason(), sentence, name));
    return AT_ONCE;
  }

  private RelayView look(View view) {
    GpuMigration migration = view.migration();
    Optional<GpuCheckpoint> checkpoint = objects.checkpoint(migration);
    return new RelayView(
        view,
        checkpoint,
        objects.restore(migration),
        checkpoint.flatMap(this::frozen),
        cluster
            .namespace(migration.getMetadata().getNamespace())
            .map(Namespace::getMetadata)
            .map(meta -> meta.getDeletionTimestamp() != null)
            .orElse(false));
  }

  private Optional<Instant> frozen(GpuCheckpoint checkpoint) {
    return cluster.operations(checkpoint.getMetadata().getUid()).stream()
        .map(OperationView::of)
        .filter(it -> it.type() == OperationType.CHECKPOINT)
        .map(OperationView::status)
        .map(GpuNodeOperationStatus::getFrozenTime)
        .filter(Objects::nonNull)
        .findFirst();
  }

  /** Where the only copy is. */
  private static String remains(View view) {
    ArtifactStatus artifact = view.status().getArtifact();
    String name = view.status().getCheckpoint();
    return artifact == null
        ? ""
        : "; its artifact stays at %s in store %s: kubectl stasis restore %s brings it back"
            .formatted(artifact.getLocation(), artifact.getStore(), name);
  }

  private void over(View view) {
    GpuMigrationStatus status = view.status();
    MigrationPhase phase = Objects.requireNonNull(status.getPhase(), "it was entered");
    Reason reason =
        phase == MigrationPhase.SUCCEEDED ? Reason.PROVEN : new Why(view.faults()).reason();
    String sentence = Objects.requireNonNullElse(status.getMessage(), "");
    events.tell(
        phase == MigrationPhase.SUCCEEDED
            ? Story.normal(view.migration(), reason, sentence, "end")
            : Story.warning(view.migration(), reason, sentence, "end"));
    ends.forget(view.migration());
    Long downtime = status.getDowntimeMilliseconds();
    ends.counts(
        view,
        phase,
        reason,
        () -> {
          if (downtime != null) {
            metrics.downtime(Duration.ofMillis(downtime));
          }
        });
  }

  /**
   * It is over: the GpuCheckpoint goes, and its artifact with it, once the workload runs.
   *
   * @return whether it is gone, or stays since it is the only copy
   */
  boolean rest(View view) {
    Optional<GpuCheckpoint> checkpoint = objects.seen(view.migration());
    if (checkpoint.isEmpty() || !runs(view)) {
      return true;
    }
    if (!isRaised(view)) {
      objects.forget(checkpoint.get());
    }
    return false;
  }

  /** Whether the memory limit of the target is to go down to what the GpuCheckpoint knows. */
  private boolean isRaised(View view) {
    Instant end =
        Objects.requireNonNullElse(view.status().getPhases(), List.<PhaseTime<MigrationPhase>>of())
            .stream()
            .reduce((first, second) -> second)
            .map(PhaseTime::time)
            .orElse(Instant.EPOCH);
    return end.plus(RAISED).isAfter(view.now())
        && objects
            .restore(view.migration())
            .map(GpuRestore::getStatus)
            .map(status -> status.getConditions())
            .flatMap(all -> new Conditions(all).find(ConditionType.ROOM_RETURNED))
            .filter(condition -> condition.status() == Truth.FALSE)
            .isPresent();
  }

  /**
   * The migration goes: what it has made and nobody needs goes before. That a restore succeeded
   * tells the GpuCheckpoint that its artifact is not the only copy.
   *
   * @return whether that is done
   */
  boolean leave(View view) {
    if (view.status().getCheckpoint() == null) {
      return true;
    }
    if (runs(view)) {
      Optional<GpuCheckpoint> left = objects.checkpoint(view.migration());
      left.ifPresent(objects::forget);
      if (left.isPresent()) {
        return false;
      }
    }
    cluster.restoresFor(view.migration().getMetadata().getUid()).stream()
        .filter(it -> isOver(it, runs(view)))
        .forEach(objects::forget);
    return true;
  }

  private static boolean isOver(GpuRestore restore, boolean runs) {
    RestorePhase phase = restore.getStatus() == null ? null : restore.getStatus().getPhase();
    return phase != null && phase.isFinal() && (runs || phase != RestorePhase.SUCCEEDED);
  }

  /** Whether the workload runs, here or there. */
  private static boolean runs(View view) {
    return switch (view.phase()) {
      case SUCCEEDED, ROLLED_BACK, CANCELLED -> true;
      case FAILED -> view.decision().filter(it -> it == Decision.ROLL_BACK).isPresent();
      default -> false;
    };
  }

  private void tell(View view, Reason reason, String sentence, String occasion) {
    events.tell(Story.normal(view.migration(), reason, sentence, occasion));
    view.source()
        .ifPresent(
            pod ->
                events.tell(
                    Story.normal(
                        pod,
                        reason,
                        "GpuMigration "
                            + view.migration().getMetadata().getName()
                            + ": "
                            + sentence,
                        view.migration().getMetadata().getUid() + "/" + occasion)));
  }
}
