package dev.stasis.operator.migration;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Brings GpuMigrations to their end: observes, decides, acts, reports. */
@ControllerConfiguration(
    name = "gpumigration",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500))
// An API server that is away comes back: it is asked again for as long as it takes. A workload may
// stand still meanwhile, so at most every ten seconds.
@GradualRetry(maxAttempts = -1, initialInterval = 500, intervalMultiplier = 2, maxInterval = 10000)
// The last resort against a loop; a migration needs some thirty reconciliations in all.
@RateLimited(maxReconciliations = 50, within = 5)
public class MigrationReconciler implements Reconciler<GpuMigration>, Cleaner<GpuMigration> {

  /** What was written down is to be acted upon; long enough for the write to be in the cache. */
  private static final Duration AT_ONCE = Duration.ofMillis(20);

  private final Observer observer;
  private final EvictionCheck evictions;
  private final Deeds deeds;
  private final Ends ends;
  private final Room room;
  private final Relay relay;
  private final Operations operations;
  private final WakeUps wakeUps;
  private final Changes changes;
  private final StasisConfig config;
  private final Clock clock;
  private final Decider decider = new Decider();

  /** When the progress of an object was last written; forgotten with the operator. */
  private final Map<String, Instant> progressed = new ConcurrentHashMap<>();

  MigrationReconciler(
      Observer observer,
      EvictionCheck evictions,
      Deeds deeds,
      Ends ends,
      Room room,
      Relay relay,
      Operations operations,
      WakeUps wakeUps,
      Changes changes,
      StasisConfig config,
      Clock clock) {
    this.observer = observer;
    this.evictions = evictions;
    this.deeds = deeds;
    this.ends = ends;
    this.room = room;
    this.relay = relay;
    this.operations = operations;
    this.wakeUps = wakeUps;
    this.changes = changes;
    this.config = config;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuMigration>> prepareEventSources(
      EventSourceContext<GpuMigration> context) {
    return wakeUps.sources(context.getPrimaryCache());
  }

  @Override
  public UpdateControl<GpuMigration> reconcile(
      GpuMigration migration, Context<GpuMigration> context) {
    boolean first = migration.getStatus() == null;
    if (first) {
      migration.setStatus(new GpuMigrationStatus());
    }
    JsonNode before = changes.snapshot(migration.getStatus());
    Duration again;
    try (LogContext fields = fields(migration)) {
      View view = observer.look(migration);
      again = RelayDecider.isOn(view) ? relay.step(view) : act(decider.next(view), view);
    }
    Change change = changes.between(before, migration.getStatus());
    boolean writes = first || change != Change.NONE;
    if (change == Change.PROGRESS && !first) {
      Duration left = untilProgress(migration);
      if (!left.isZero()) {
        writes = false;
        again = left.compareTo(again) < 0 || again.isZero() ? left : again;
      }
    }
    UpdateControl<GpuMigration> done =
        writes ? UpdateControl.patchStatus(migration) : UpdateControl.noUpdate();
    if (!again.isZero()) {
      done.rescheduleAfter(again);
    }
    return done;
  }

  /** How long until progress may be written again; zero: it is written now. */
  private Duration untilProgress(GpuMigration migration) {
    String uid = migration.getMetadata().getUid();
    Instant now = clock.instant();
    Duration left =
        config
            .progressEvery()
            .minus(Duration.between(progressed.getOrDefault(uid, Instant.EPOCH), now));
    if (left.isNegative() || left.isZero()) {
      progressed.put(uid, now);
      return Duration.ZERO;
    }
    return left;
  }

  private Duration act(Next next, View view) {
    return next instanceof Next.Rest ? rest(view) : perform(next, view);
  }

  /** Returns when the migration is observed again, unless something wakes it before. */
  private Duration perform(Next decided, View view) {
    Next next = evictions.checked(decided, view);
    if (next instanceof Next.Save save) {
      return relay.begin(view, save);
    }
    boolean waits =
        deeds.perform(
            next,
            view,
            next instanceof Next.Make make
                ? observer.against(view, make.source()).keySet()
                : Set.of());
    if (next instanceof Next.HandOver || next instanceof Next.RemoveSource) {
      // What the controller or the kubelet does wakes this up. Until then each look asks them.
      return new Backoff(config.progressEvery(), config.lookAgainEvery())
          .after(view.decided(), view.now());
    }
    if (next instanceof Next.Room
        || next instanceof Next.Cancel
        || next instanceof Next.RemoveTarget) {
      return config.progressEvery();
    }
    return waits ? until(view) : AT_ONCE;
  }

  /** Deadlines and silent agents cause no event, so they are polled. */
  private Duration until(View view) {
    // A pod that runs can wait for a quota or a budget; one that is frozen cannot.
    Duration soonest =
        view.phase() == MigrationPhase.PENDING
            ? new Backoff(config.lookAgainEvery(), Backoff.PATIENT)
                .after(view.entered(), view.now())
            : config.lookAgainEvery();
    for (Instant time : List.of(view.deadline(), view.frozenUntil().orElse(Instant.MAX))) {
      if (time.isAfter(view.now()) && time.isBefore(view.now().plus(soonest))) {
        soonest = Duration.between(view.now(), time).plus(AT_ONCE);
      }
    }
    return soonest;
  }

  /** It is over: what was raised goes down, what is said is forgotten, what was left is ended. */
  private Duration rest(View view) {
    progressed.remove(view.migration().getMetadata().getUid());
    ends.forget(view.migration());
    boolean done = room.giveBack(view, new Ledger(view.migration(), clock));
    boolean left = !relay.rest(view);
    boolean open = false;
    for (OperationView operation : view.work().all()) {
      if (!operation.isFinal()) {
        open = true;
      } else if (done || operation.type() != OperationType.CHECKPOINT) {
        // The look holds the pod as it was, which says what its limit is to be.
        operations.release(operation.operation());
      }
    }
    if (open && view.phase() == MigrationPhase.SUCCEEDED) {
      new Late(deeds).look(view);
    }
    return done && !open && !left ? Duration.ZERO : config.lookAgainEvery();
  }

  /** At work it is rolled back first, or brought to its end; one that is over goes. */
  @Override
  public DeleteControl cleanup(GpuMigration migration, Context<GpuMigration> context) {
    if (migration.getStatus() == null) {
      migration.setStatus(new GpuMigrationStatus());
    }
    JsonNode before = changes.snapshot(migration.getStatus());
    try (LogContext fields = fields(migration)) {
      View view = observer.look(migration);
      Optional<Next> next =
          RelayDecider.isOn(view) ? Optional.empty() : Optional.of(decider.next(view));
      if (next.filter(Next.Rest.class::isInstance).isPresent()) {
        rest(view);
        if (!relay.leave(view)) {
          return DeleteControl.noFinalizerRemoval()
              .rescheduleAfter(config.progressEvery().toMillis());
        }
        return leave(view)
            ? DeleteControl.defaultDelete()
            : DeleteControl.noFinalizerRemoval()
                .rescheduleAfter(config.lookAgainEvery().toMillis());
      }
      Duration again = next.isPresent() ? perform(next.get(), view) : relay.step(view);
      if (changes.between(before, migration.getStatus()) == Change.SUBSTANCE) {
        // What was decided stands there before anything is done because of it.
        context.getClient().resource(migration).lockResourceVersion().updateStatus();
      }
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(again.toMillis());
    }
  }

  /**
   * Whether it has no orders any more. Without it nobody would let them go: one that is not over is
   * cancelled and waited for, as long as somebody may end it.
   */
  private boolean leave(View view) {
    List<OperationView> open = view.work().all().stream().filter(it -> !it.isFinal()).toList();
    for (OperationView operation : open) {
      if (!isWaitedFor(operation, view)) {
        operations.abandon(operation.operation());
      } else if (!operation.isCancelled() && operation.phase() != OperationPhase.HELD) {
        operations.release(operation.operation());
      }
    }
    if (open.isEmpty()) {
      view.work().all().forEach(it -> operations.release(it.operation()));
    }
    return open.isEmpty();
  }

  /** What is held is ended after a switch-over; after any other end nobody decides any more. */
  private static boolean isWaitedFor(OperationView operation, View view) {
    Instant deleted = Instant.parse(view.migration().getMetadata().getDeletionTimestamp());
    boolean undecided =
        operation.phase() == OperationPhase.HELD && view.phase() != MigrationPhase.SUCCEEDED;
    if (undecided || !deleted.plus(view.orphanAfter()).isAfter(view.now())) {
      return false;
    }
    String node = operation.operation().getSpec().getNodeName();
    return Stream.of(view.sourceAgent(), view.targetAgent())
        .flatMap(Optional::stream)
        .anyMatch(agent -> agent.node().equals(node) && !agent.nodeGone());
  }

  private static LogContext fields(GpuMigration migration) {
    return LogContext.of(migration).operation(migration.getStatus().getSourceOperation());
  }
}
