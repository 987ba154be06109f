package dev.stasis.operator.migration;

import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.RolledBack;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.StatusUpdater;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes observations and actions into the status of a GpuMigration. */
class MigrationStatusUpdater extends StatusUpdater<MigrationPhase, GpuMigrationStatus> {

  /** Records the deciding operator. */
  static final String OPERATOR = "operator";

  MigrationStatusUpdater(GpuMigration migration, Instant now) {
    super(migration, migration.getStatus(), ConditionType.SUCCEEDED, now);
  }

  void waits(MigrationPhase phase, Progress.Waiting waiting, MigrationContext view) {
    reach(phase);
    Report report = report().working(waiting.reason(), waiting.message());
    sees(view, report);
    report.writeTo(status);
  }

  /** The reports of the agents, and the node of the target. */
  void sees(MigrationContext view, Report report) {
    places(view);
    view.target().ifPresent(this::node);
    view.work().look().ifPresent(look -> found(look.status()));
    Optional<OperationView> freeze = view.work().freeze();
    freeze.ifPresent(
        it -> status.setTimings(latest(it.status().getTimings(), status.getTimings())));
    if (freeze.isPresent()) {
      running(view, freeze.get(), report);
    }
    progress(view);
  }

  private void running(MigrationContext view, OperationView freeze, Report report) {
    if (view.decision().filter(it -> it == Decision.SWITCH_OVER).isPresent()) {
      return;
    }
    if (freeze.isLeftFrozen()) {
      report.source(
          freeze.workload() == WorkloadState.FROZEN ? ConditionValue.FALSE : ConditionValue.UNKNOWN,
          Reason.NOT_THAWED,
          "it is still frozen, and its agent retries until it runs");
    } else if (freeze.workload() == WorkloadState.FROZEN) {
      report.source(ConditionValue.UNKNOWN, Reason.FROZEN, "it is frozen while it is migrated");
    } else if (freeze.workload() == WorkloadState.RUNNING) {
      report.source(ConditionValue.TRUE, Reason.RESUMED, "the source keeps running");
    }
  }

  /** The agent of the source inspects it. */
  void looks(Pod source, String container) {
    reach(MigrationPhase.PENDING);
    status.setSource(observed(source, container));
    report()
        .working(
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + source.getSpec().getNodeName() + " is inspecting the pod")
        .source(ConditionValue.TRUE, Reason.UNTOUCHED, "it was not changed")
        .writeTo(status);
  }

  private void found(GpuNodeOperationStatus look) {
    status.setSourceHardware(latest(look.getHardware(), status.getSourceHardware()));
    if (status.getRoom() == null) {
      status.setRoom(look.getRoom());
    }
  }

  /** A target exists: the next attempt has started. */
  void adopts(Pod target, String container, List<String> others) {
    reach(MigrationPhase.TARGET_STARTING);
    status.setAttempts(Objects.requireNonNullElse(status.getAttempts(), 0) + 1);
    status.setTarget(observed(target, container));
    if (!others.isEmpty()) {
      status.setOtherContainers(others);
    }
    status.setNodes(null);
    report()
        .working(Reason.STARTING, "pod " + target.getMetadata().getName() + " is being scheduled")
        .writeTo(status);
  }

  /** The target is replaced by another one. */
  void another(List<Fault> faults, boolean excludesNode) {
    ObservedPod tried = status.getTarget();
    if (excludesNode && tried != null && tried.node() != null) {
      List<String> excluded =
          new ArrayList<>(Objects.requireNonNullElse(status.getExcludedNodes(), List.of()));
      excluded.add(tried.node());
      status.setExcludedNodes(excluded.stream().distinct().toList());
    }
    reach(MigrationPhase.PENDING);
    status.setTarget(null);
    report()
        .working(
            Reason.WAITING,
            "retrying with another target after: " + new FaultSummary(faults).message())
        .writeTo(status);
  }

  void ordered(MigrationPhase phase, String operation, boolean ofSource, String sentence) {
    reach(phase);
    if (ofSource) {
      status.setSourceOperation(operation);
    } else {
      status.setTargetOperation(operation);
    }
    report().working(Reason.WAITING_FOR_AGENT, sentence).writeTo(status);
  }

  /** The target survives. */
  void switchesOver(MigrationContext view, Pod target, OperationView proven) {
    GpuNodeOperationStatus said = proven.status();
    reach(MigrationPhase.VERIFYING);
    reach(MigrationPhase.SWITCHING_OVER);
    status.setCommitment(new Commitment(Decision.SWITCH_OVER, now(), OPERATOR));
    node(target);
    status.setProof(said.getProof());
    status.setTargetHardware(said.getHardware());
    status.setTargetTimings(said.getRestoreTimings());
    status.setFaults(null);
    downtime(view.frozenSince(), said.getProof());
    report()
        .working(
            Reason.SWITCHED_OVER, "the target runs and is verified; the source is being removed")
        .source(
            ConditionValue.FALSE,
            Reason.SWITCHED_OVER,
            "it never runs again, because the target runs")
        .writeTo(status);
  }

  protected final void downtime(Optional<Instant> frozenSince, @Nullable Proof proof) {
    if (proof == null || frozenSince.isEmpty()) {
      return;
    }
    Duration still = Duration.between(frozenSince.get(), proof.time());
    // The clocks of two machines differ: the result is never negative.
    Duration downtime = still.isNegative() ? Duration.ZERO : still;
    status.setDowntimeMilliseconds(downtime.toMillis());
    status.setDowntime(new HumanDuration(downtime).text());
  }

  /** The source survives. */
  void rollsBack(List<Fault> faults, MigrationContext view) {
    sees(view, report());
    status.setCommitment(new Commitment(Decision.ROLL_BACK, now(), OPERATOR));
    status.setFaults(faults);
    status.setRolledBack(
        new RolledBack(faults.get(0).reason(), new FaultSummary(faults).message(), phase(), null));
    report()
        .working(
            new FaultSummary(faults).reason(Reason.OPERATION_FAILED),
            new FaultSummary(faults).message())
        .writeTo(status);
  }

  /**
   * The workload was verified on the target, and no other copy is left.
   *
   * @param ended whether it no longer runs there
   */
  void succeeded(boolean raised, boolean ended) {
    reach(MigrationPhase.SUCCEEDED);
    over();
    ObservedPod target = Objects.requireNonNull(status.getTarget(), "it was verified");
    String sentence =
        ended
            ? "pod %s was verified on node %s and has ended since; it was frozen for %s"
            : "pod %s runs on node %s and is verified; it was frozen for %s";
    Report report =
        report()
            .done(
                Reason.PROVEN,
                sentence.formatted(target.name(), target.node(), status.getDowntime()));
    if (raised) {
      report.limitRaised("the memory limit of pod " + target.name() + " is to be lowered again");
    }
    report.writeTo(status);
  }

  /** Everything is undone. */
  void undone(boolean cancelled, boolean touched, boolean raised) {
    RolledBack why = Objects.requireNonNull(status.getRolledBack(), "it was decided first");
    List<Fault> faults = Objects.requireNonNullElse(status.getFaults(), List.of());
    String sentence = Objects.requireNonNullElse(why.message(), why.reason());
    status.setTarget(null);
    over();
    Report report = report();
    if (touched) {
      reach(MigrationPhase.ROLLED_BACK);
      status.setRolledBack(new RolledBack(why.reason(), why.message(), why.phase(), now()));
      sentence = "the source keeps running: " + sentence;
      report.also(
          ConditionType.ROLLED_BACK,
          ConditionValue.TRUE,
          new FaultSummary(faults).reason(Reason.OPERATION_FAILED),
          sentence);
      report.source(
          ConditionValue.TRUE, Reason.THAWED, "the freeze was rolled back; the workload runs");
    } else {
      reach(cancelled ? MigrationPhase.CANCELLED : MigrationPhase.FAILED);
      status.setRolledBack(null);
    }
    if (cancelled) {
      report.stalled(Reason.CANCELLED, touched ? sentence : "cancelled before the pod was changed");
    } else {
      report.failed(new FaultSummary(faults).reason(Reason.OPERATION_FAILED), sentence);
    }
    if (raised) {
      report.limitRaised("the memory limit of the source is to be lowered again");
    }
    report.writeTo(status);
  }

  /** The migration has ended, and the workload does not run in its original place. */
  void loses(Reason reason, String sentence) {
    reach(MigrationPhase.FAILED);
    over();
    report()
        .failed(reason, sentence)
        .source(ConditionValue.FALSE, reason, sentence)
        .writeTo(status);
  }

  private void over() {
    status.setSourceOperation(null);
    status.setTargetOperation(null);
    status.copyProgress(null);
  }

  /** Copies the progress of the working agent. */
  private void progress(MigrationContext view) {
    // The sending end knows the bytes of a stream.
    Optional<OperationView> working =
        Stream.of(
                view.work().freeze().filter(it -> !view.isHeld()),
                view.restore(),
                view.work().last(OperationType.SEND),
                view.work().last(OperationType.RECEIVE),
                view.work().freeze())
            .flatMap(Optional::stream)
            .filter(it -> !it.isFinal())
            .findFirst();
    status.copyProgress(working.map(OperationView::status).orElse(null));
    view.artifact()
        .ifPresent(
            artifact -> {
              status.setBytes(view.isShared() ? Long.valueOf(0) : artifact.getBytes());
              status.setSize(view.isShared() ? "0" : artifact.getSize());
            });
  }

  private void places(MigrationContext view) {
    if (view.target().isEmpty()) {
      view.places().ifPresent(it -> it.writeTo(status));
    }
  }

  private void node(Pod target) {
    status.setTarget(withNode(status.getTarget(), target));
  }

  private MigrationPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), MigrationPhase.PENDING);
  }

  /** The first phase of a migration is Pending. */
  private void reach(MigrationPhase phase) {
    if (status.getPhases() == null || status.getPhases().isEmpty()) {
      enter(MigrationPhase.PENDING);
    }
    enter(phase);
  }
}
