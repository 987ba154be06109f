package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.restore.ExcludedNode;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Writes down in the status of a GpuRestore what was seen and done. */
final class Ledger {

  private final GpuRestore restore;
  private final GpuRestoreStatus status;
  private final Clock clock;
  private final Stopwatch stopwatch = new Stopwatch();

  Ledger(GpuRestore restore, Clock clock) {
    this.restore = restore;
    this.status = restore.getStatus();
    this.clock = clock;
  }

  /** It waits. */
  void waits(Next.Wait wait, View view) {
    enter(wait.phase());
    report().working(wait.reason(), wait.sentence()).writeTo(status);
    places(view);
    view.target().ifPresent(pod -> node(pod));
    view.operation().ifPresent(this::progress);
  }

  /** A target is there: the next attempt has begun. */
  void adopts(Pod target, String container, List<String> others) {
    enter(RestorePhase.STARTING);
    status.setAttempts(Objects.requireNonNullElse(status.getAttempts(), 0) + 1);
    status.setPod(
        new ObservedPod(
            target.getMetadata().getName(),
            target.getMetadata().getUid(),
            container,
            target.getSpec().getNodeName()));
    status.setOtherContainers(others.isEmpty() ? null : others);
    status.setNodes(null);
    report()
        .working(
            Reason.TARGET_STARTING, "pod " + target.getMetadata().getName() + " is to be scheduled")
        .writeTo(status);
  }

  /** The agent has its order. */
  void ordered(String operation, Pod target) {
    enter(RestorePhase.RESTORING);
    node(target);
    status.setOperation(operation);
    report()
        .working(
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + target.getSpec().getNodeName() + " is asked to restore it")
        .writeTo(status);
  }

  /** It has failed; what has to be undone is undone next. */
  void fails(List<Fault> faults, View view) {
    view.target().ifPresent(pod -> node(pod));
    status.setFaults(faults);
    clearProgress();
    Verdict verdict = new Verdict(faults);
    report().working(verdict.reason(), verdict.sentence()).writeTo(status);
  }

  /** All is undone and another one is tried. */
  void again(Verdict verdict) {
    // One that was being restored is first a target again, and then none.
    enter(RestorePhase.STARTING);
    enter(RestorePhase.PENDING);
    ObservedPod tried = status.getPod();
    if (verdict.excludesNode() && tried != null && tried.node() != null) {
      List<ExcludedNode> excluded =
          new ArrayList<>(
              Objects.requireNonNullElse(status.getExcludedNodes(), List.<ExcludedNode>of()));
      excluded.add(new ExcludedNode(tried.node(), clock.instant(), verdict.faults()));
      status.setExcludedNodes(excluded);
    }
    status.setPod(null);
    status.setOperation(null);
    status.setFaults(null);
    report()
        .working(Reason.WAITING, "another target is tried after: " + verdict.sentence())
        .writeTo(status);
  }

  /** It runs, with proof. */
  void proven(Next.Prove prove, String container, boolean raised) {
    OperationView operation = prove.operation();
    GpuNodeOperationStatus said = operation.status();
    enter(RestorePhase.VERIFYING);
    enter(RestorePhase.SUCCEEDED);
    node(prove.target());
    clearProgress();
    status.setOperation(null);
    status.setProof(said.getProof());
    status.setHardware(said.getHardware());
    status.setTimings(stopwatch.timings(restore, prove.target(), container, operation));
    status.setRestarts(0);
    Report report = report().done(Reason.PROVEN, sentence(said));
    if (raised) {
      report.also(
          ConditionType.ROOM_RETURNED,
          Truth.FALSE,
          Reason.LIMIT_STILL_RAISED,
          "the memory limit of container " + container + " is to go down again");
    }
    report.writeTo(status);
  }

  /** It has failed for good. */
  void gives(Verdict verdict) {
    enter(RestorePhase.FAILED);
    status.setOperation(null);
    clearProgress();
    report().failed(verdict.reason(), verdict.sentence()).writeTo(status);
  }

  /** It was started from its image. */
  void coldStarted(Pod pod, String container, Verdict verdict) {
    enter(RestorePhase.COLD_STARTED);
    status.setOperation(null);
    clearProgress();
    status.setPod(
        new ObservedPod(
            pod.getMetadata().getName(),
            pod.getMetadata().getUid(),
            container,
            pod.getSpec().getNodeName()));
    String sentence = "started from its image, since: " + verdict.sentence();
    report()
        .notReached(Reason.COLD_STARTED, sentence)
        .also(ConditionType.COLD_STARTED, Truth.TRUE, verdict.reason(), sentence)
        .writeTo(status);
  }

  /** Its user did not want it any more. */
  void cancelled() {
    enter(RestorePhase.CANCELLED);
    status.setOperation(null);
    status.setPod(null);
    clearProgress();
    report()
        .notReached(Reason.CANCELLED, "cancelled; no target is left, the checkpoint is as it was")
        .writeTo(status);
  }

  /** One more aspect of one that is over. */
  void also(ConditionType type, Truth truth, Reason reason, String sentence) {
    Report report = new Report(status, ConditionType.SUCCEEDED, generation(), clock);
    report.also(type, truth, reason, sentence);
    String word = status.getReason();
    String message = status.getMessage();
    report.writeTo(status);
    status.setReason(word);
    status.setMessage(message);
  }

  private static String sentence(GpuNodeOperationStatus said) {
    int processes =
        said.getProof() == null || said.getProof().processes() == null
            ? 0
            : said.getProof().processes().size();
    return processes + (processes == 1 ? " process runs" : " processes run") + ", with proof";
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
    ObservedPod known = status.getPod();
    if (known != null && target.getSpec().getNodeName() != null && known.node() == null) {
      status.setPod(
          new ObservedPod(
              known.name(), known.uid(), known.container(), target.getSpec().getNodeName()));
    }
  }

  private void progress(OperationView operation) {
    GpuNodeOperationStatus said = operation.status();
    status.setOperation(operation.isFinal() ? null : operation.name());
    status.setStep(said.getStep());
    status.setDoneBytes(said.getDoneBytes());
    status.setTotalBytes(said.getTotalBytes());
    status.setProgress(said.getProgress());
    status.setBytesPerSecond(said.getBytesPerSecond());
    status.setRate(said.getRate());
    if (said.getHardware() != null) {
      status.setHardware(said.getHardware());
    }
  }

  private void clearProgress() {
    status.setStep(null);
    status.setDoneBytes(null);
    status.setTotalBytes(null);
    status.setProgress(null);
    status.setBytesPerSecond(null);
    status.setRate(null);
  }

  private void enter(RestorePhase phase) {
    PhaseLog<RestorePhase> log =
        new PhaseLog<>(Objects.requireNonNullElse(status.getPhases(), List.of()));
    PhaseLog<RestorePhase> longer = log.entered(phase, clock.instant());
    status.setPhase(phase);
    status.setPhases(longer.times());
  }

  private Report report() {
    return new Report(status, ConditionType.SUCCEEDED, generation(), clock);
  }

  private long generation() {
    return Objects.requireNonNullElse(restore.getMetadata().getGeneration(), 1L);
  }
}
