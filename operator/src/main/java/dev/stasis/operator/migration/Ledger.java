package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.Commitment;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.migration.RolledBack;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.status.Took;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes down in the status of a GpuMigration what was seen and done. */
final class Ledger {

  /** Who decides here. */
  static final String OPERATOR = "operator";

  private final GpuMigration migration;
  private final GpuMigrationStatus status;
  private final Clock clock;

  Ledger(GpuMigration migration, Clock clock) {
    this.migration = migration;
    this.status = migration.getStatus();
    this.clock = clock;
  }

  /** It waits. */
  void waits(Next.Wait wait, View view) {
    enter(wait.phase());
    Report report = report().working(wait.reason(), wait.sentence());
    sees(view, report);
    report.writeTo(status);
  }

  /** What the agents say, and which node the target got. */
  void sees(View view, Report report) {
    places(view);
    view.target().ifPresent(this::node);
    view.work().look().ifPresent(look -> found(look.status()));
    Optional<OperationView> freeze = view.work().freeze();
    freeze.ifPresent(it -> status.setTimings(newer(it.status().getTimings(), status.getTimings())));
    if (freeze.isPresent()) {
      running(view, freeze.get(), report);
    }
    new Progress(status).of(view);
  }

  private void running(View view, OperationView freeze, Report report) {
    if (view.decision().filter(it -> it == Decision.SWITCH_OVER).isPresent()) {
      return;
    }
    if (freeze.isLeftFrozen()) {
      report.also(
          ConditionType.SOURCE_RUNNING,
          freeze.workload() == WorkloadState.FROZEN ? Truth.FALSE : Truth.UNKNOWN,
          Reason.NOT_THAWED,
          "it still stands still, and its agent tries again until it runs");
    } else if (freeze.workload() == WorkloadState.FROZEN) {
      report.also(
          ConditionType.SOURCE_RUNNING,
          Truth.UNKNOWN,
          Reason.FROZEN,
          "it stands still while it is moved");
    } else if (freeze.workload() == WorkloadState.RUNNING) {
      report.also(ConditionType.SOURCE_RUNNING, Truth.TRUE, Reason.RESUMED, "the source goes on");
    }
  }

  /** The agent of the source looks. */
  void looks(Pod source, String container) {
    enter(MigrationPhase.PENDING);
    status.setSource(observed(source, container));
    report()
        .working(
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + source.getSpec().getNodeName() + " looks at the pod")
        .also(ConditionType.SOURCE_RUNNING, Truth.TRUE, Reason.UNTOUCHED, "nobody touched it")
        .writeTo(status);
  }

  private void found(GpuNodeOperationStatus look) {
    status.setSourceHardware(newer(look.getHardware(), status.getSourceHardware()));
    if (status.getRoom() == null) {
      status.setRoom(look.getRoom());
    }
  }

  /** A target is there: the next attempt has begun. */
  void adopts(Pod target, String container, List<String> others) {
    enter(MigrationPhase.TARGET_STARTING);
    status.setAttempts(Objects.requireNonNullElse(status.getAttempts(), 0) + 1);
    status.setTarget(observed(target, container));
    if (!others.isEmpty()) {
      status.setOtherContainers(others);
    }
    status.setNodes(null);
    report()
        .working(
            Reason.TARGET_STARTING, "pod " + target.getMetadata().getName() + " is to be scheduled")
        .writeTo(status);
  }

  /** Another target is tried. */
  void another(Next.Another another) {
    ObservedPod tried = status.getTarget();
    if (another.excludesNode() && tried != null && tried.node() != null) {
      List<String> excluded =
          new ArrayList<>(Objects.requireNonNullElse(status.getExcludedNodes(), List.of()));
      excluded.add(tried.node());
      status.setExcludedNodes(excluded.stream().distinct().toList());
    }
    enter(MigrationPhase.PENDING);
    status.setTarget(null);
    report()
        .working(
            Reason.WAITING,
            "another target is tried after: " + new Why(another.faults()).sentence())
        .writeTo(status);
  }

  /** An order was given. */
  void ordered(MigrationPhase phase, String operation, boolean ofSource, String sentence) {
    enter(phase);
    if (ofSource) {
      status.setSourceOperation(operation);
    } else {
      status.setTargetOperation(operation);
    }
    report().working(Reason.WAITING_FOR_AGENT, sentence).writeTo(status);
  }

  /** The target is the one. */
  void switchesOver(View view, Next.SwitchOver proven) {
    GpuNodeOperationStatus said = proven.proven().status();
    enter(MigrationPhase.VERIFYING);
    enter(MigrationPhase.SWITCHING_OVER);
    status.setCommitment(new Commitment(Decision.SWITCH_OVER, now(), OPERATOR));
    node(proven.target());
    status.setProof(said.getProof());
    status.setTargetHardware(said.getHardware());
    status.setTargetTimings(said.getRestoreTimings());
    status.setFaults(null);
    if (said.getProof() != null && view.frozenSince().isPresent()) {
      Duration still = Duration.between(view.frozenSince().get(), said.getProof().time());
      // Clocks of two machines differ: never less than nothing.
      Duration downtime = still.isNegative() ? Duration.ZERO : still;
      status.setDowntimeMilliseconds(downtime.toMillis());
      status.setDowntime(new Took(downtime).text());
    }
    report()
        .working(Reason.SWITCHED_OVER, "the target runs, with proof; the source is removed")
        .also(
            ConditionType.SOURCE_RUNNING,
            Truth.FALSE,
            Reason.SWITCHED_OVER,
            "it never runs again: the target does")
        .writeTo(status);
  }

  /** The source is the one. */
  void rollsBack(List<Fault> faults, View view) {
    sees(view, report());
    status.setCommitment(new Commitment(Decision.ROLL_BACK, now(), OPERATOR));
    status.setFaults(faults);
    status.setRolledBack(
        new RolledBack(faults.get(0).reason(), new Why(faults).sentence(), phase(), null));
    report().working(new Why(faults).reason(), new Why(faults).sentence()).writeTo(status);
  }

  /** The workload runs on the target, and nothing is left of it elsewhere. */
  void succeeded(boolean raised) {
    enter(MigrationPhase.SUCCEEDED);
    over();
    ObservedPod target = Objects.requireNonNull(status.getTarget(), "it was proven");
    Report report =
        report()
            .done(
                Reason.PROVEN,
                "pod %s runs on node %s, with proof; it stood still for %s"
                    .formatted(target.name(), target.node(), status.getDowntime()));
    if (raised) {
      report.also(
          ConditionType.ROOM_RETURNED,
          Truth.FALSE,
          Reason.LIMIT_STILL_RAISED,
          "the memory limit of pod " + target.name() + " is to go down again");
    }
    report.writeTo(status);
  }

  /** Everything is undone. */
  void undone(boolean cancelled, boolean touched, boolean raised) {
    RolledBack why = Objects.requireNonNull(status.getRolledBack(), "that was decided first");
    List<Fault> faults = Objects.requireNonNullElse(status.getFaults(), List.of());
    String sentence = Objects.requireNonNullElse(why.message(), why.reason());
    status.setTarget(null);
    over();
    Report report = report();
    if (touched) {
      enter(MigrationPhase.ROLLED_BACK);
      status.setRolledBack(new RolledBack(why.reason(), why.message(), why.phase(), now()));
      sentence = "the source goes on, since: " + sentence;
      report.also(ConditionType.ROLLED_BACK, Truth.TRUE, new Why(faults).reason(), sentence);
      report.also(
          ConditionType.SOURCE_RUNNING,
          Truth.TRUE,
          Reason.THAWED,
          "the freeze was undone; it goes on");
    } else {
      enter(cancelled ? MigrationPhase.CANCELLED : MigrationPhase.FAILED);
      status.setRolledBack(null);
    }
    if (cancelled) {
      report.notReached(
          Reason.CANCELLED, touched ? sentence : "cancelled before the pod was touched");
    } else {
      report.failed(new Why(faults).reason(), sentence);
    }
    if (raised) {
      report.also(
          ConditionType.ROOM_RETURNED,
          Truth.FALSE,
          Reason.LIMIT_STILL_RAISED,
          "the memory limit of the source is to go down again");
    }
    report.writeTo(status);
  }

  /** It is over, and the workload does not run where it was. */
  void loses(Reason reason, String sentence) {
    enter(MigrationPhase.FAILED);
    over();
    report()
        .failed(reason, sentence)
        .also(ConditionType.SOURCE_RUNNING, Truth.FALSE, reason, sentence)
        .writeTo(status);
  }

  /** One more aspect of one that is over. */
  void also(ConditionType type, Truth truth, Reason reason, String sentence) {
    String word = status.getReason();
    String message = status.getMessage();
    report().also(type, truth, reason, sentence).writeTo(status);
    status.setReason(word);
    status.setMessage(message);
  }

  private void over() {
    status.setSourceOperation(null);
    status.setTargetOperation(null);
    new Progress(status).clear();
  }

  /** While none fits, the status says why, node by node. */
  private void places(View view) {
    if (view.places().isEmpty() || view.target().isPresent()) {
      return;
    }
    NodeVerdicts places = view.places().get();
    status.setNodesFit(places.fit());
    status.setNodesKnown(places.known());
    status.setNodes(places.fit() == 0 ? places.listed() : null);
  }

  private void node(Pod target) {
    ObservedPod known = status.getTarget();
    String node = target.getSpec().getNodeName();
    if (known != null && node != null && known.node() == null) {
      status.setTarget(new ObservedPod(known.name(), known.uid(), known.container(), node));
    }
  }

  private static ObservedPod observed(Pod pod, String container) {
    return new ObservedPod(
        pod.getMetadata().getName(),
        pod.getMetadata().getUid(),
        container,
        pod.getSpec().getNodeName());
  }

  private static <T> @Nullable T newer(@Nullable T said, @Nullable T known) {
    return said == null ? known : said;
  }

  private MigrationPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), MigrationPhase.PENDING);
  }

  private void enter(MigrationPhase phase) {
    List<PhaseTime<MigrationPhase>> known =
        Objects.requireNonNullElse(status.getPhases(), List.of());
    PhaseLog<MigrationPhase> log = new PhaseLog<>(known);
    if (known.isEmpty() && phase != MigrationPhase.PENDING) {
      log = log.entered(MigrationPhase.PENDING, now());
    }
    status.setPhases(log.entered(phase, now()).times());
    status.setPhase(phase);
  }

  private Instant now() {
    return clock.instant();
  }

  private Report report() {
    long generation = Objects.requireNonNullElse(migration.getMetadata().getGeneration(), 1L);
    return new Report(status, ConditionType.SUCCEEDED, generation, clock);
  }
}
