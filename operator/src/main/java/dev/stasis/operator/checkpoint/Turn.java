package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.RequestContext;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One look at one GpuCheckpoint: what is seen, and what is decided because of it. The status is the
 * object's own and is changed; nothing else is, before the turn is carried out.
 */
final class Turn implements RequestContext<CheckpointPhase> {

  private final GpuCheckpoint object;
  private final GpuCheckpointStatus status;
  private final Sight sight;
  private final Report report;
  private final List<Act> acts = new ArrayList<>();
  private final List<Story> stories = new ArrayList<>();
  private @Nullable List<OperationView> operations;
  private @Nullable Duration again;
  private boolean over;

  Turn(GpuCheckpoint object, Sight sight) {
    this.object = object;
    this.sight = sight;
    if (object.getStatus() == null) {
      object.setStatus(new GpuCheckpointStatus());
    }
    this.status = object.getStatus();
    this.report =
        new Report(
            status,
            ConditionType.READY,
            Objects.requireNonNullElse(object.getMetadata().getGeneration(), 1L),
            Clock.fixed(sight.now(), ZoneOffset.UTC));
  }

  @Override
  public GpuCheckpoint object() {
    return object;
  }

  GpuCheckpointSpec spec() {
    return object.getSpec();
  }

  GpuCheckpointStatus status() {
    return status;
  }

  Cluster cluster() {
    return sight.cluster();
  }

  PodWrites pods() {
    return sight.pods();
  }

  PodEvictor evictor() {
    return sight.evictor();
  }

  StasisConfig config() {
    return sight.config();
  }

  /** What was ordered for it, looked at once: what comes meanwhile is for the next turn. */
  List<OperationView> operations() {
    if (operations == null) {
      operations = cluster().operations(uid()).stream().map(OperationView::of).toList();
    }
    return operations;
  }

  @Override
  public Instant now() {
    return sight.now();
  }

  /** None with an import: one of that name is another one. */
  Optional<Pod> pod() {
    return isImport() ? Optional.empty() : sight.pod();
  }

  /** Whether nothing is frozen: the artifact lies in a store already. */
  boolean isImport() {
    return spec().getImportFrom() != null;
  }

  Optional<Instant> jobDeadline() {
    return sight.jobDeadline();
  }

  Report report() {
    return report;
  }

  String uid() {
    return object.getMetadata().getUid();
  }

  String namespace() {
    return object.getMetadata().getNamespace();
  }

  boolean isDeleted() {
    return object.getMetadata().getDeletionTimestamp() != null;
  }

  @Override
  public boolean isCancelRequested() {
    return Boolean.TRUE.equals(spec().getCancel());
  }

  @Override
  public boolean hasFailed() {
    return phase() == CheckpointPhase.FAILED;
  }

  @Override
  public @Nullable String operationName() {
    return status.getOperation();
  }

  @Override
  public List<PhaseTime<CheckpointPhase>> phases() {
    return Objects.requireNonNullElse(status.getPhases(), List.of());
  }

  /** Whether nobody wants it any more; in a namespace that goes nothing is begun or kept frozen. */
  @Override
  public boolean isCancelled() {
    return isCancelRequested()
        || cluster()
            .namespace(namespace())
            .filter(found -> found.getMetadata().getDeletionTimestamp() != null)
            .isPresent();
  }

  /** Whether somebody else evicts the pod, and is held until it is saved. */
  boolean isForAnEviction() {
    Map<String, String> annotations = object.getMetadata().getAnnotations();
    return annotations != null && annotations.containsKey(Api.EVICT_SINCE_ANNOTATION);
  }

  /** When the object's own deadline is over. */
  Instant deadline() {
    return created().plus(spec().getOptions().getDeadline().duration());
  }

  Instant created() {
    return Instant.parse(object.getMetadata().getCreationTimestamp());
  }

  ObjectReference self() {
    return new ObjectReference("GpuCheckpoint", namespace(), object.getMetadata().getName(), uid());
  }

  /** Returns the agent of a node. */
  NodeAgent agent(String node) {
    return NodeAgent.of(cluster(), node, now());
  }

  /** The node of the pod, once it is known. */
  Optional<String> node() {
    return Optional.ofNullable(status.getPod()).map(pod -> pod.node());
  }

  @Override
  public CheckpointPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), CheckpointPhase.PENDING);
  }

  /** Enters a phase, and those on the way to it that were passed unseen. */
  void enter(CheckpointPhase phase) {
    if (isDeleted()) {
      // Where it was is of no interest any more, and the way back may begin anywhere.
      return;
    }
    PhaseLog<CheckpointPhase> log =
        new PhaseLog<>(Objects.requireNonNullElse(status.getPhases(), List.of()));
    if (log.current().isEmpty()) {
      log = log.entered(CheckpointPhase.PENDING, now());
    }
    for (CheckpointPhase next : Path.between(log.current().orElseThrow(), phase)) {
      log = log.entered(next, now());
    }
    status.setPhases(log.times());
    status.setPhase(phase);
  }

  /** It cannot be done. */
  void refuse(List<Fault> faults) {
    fail(faults, Reason.PREFLIGHT_REFUSED);
  }

  /** It could not be done; an agent's own words are only in the faults. */
  void fail(List<Fault> faults, Reason otherwise) {
    status.setFaults(faults);
    fail(Reasons.of(faults.get(0).reason(), otherwise), new FaultSummary(faults).message());
  }

  /** It could not be done. What was saved before stays what it is. */
  void fail(Reason reason, String sentence) {
    enter(CheckpointPhase.FAILED);
    report.failed(reason, sentence);
    if (isSavedBefore()) {
      report.keeps(Reason.ARTIFACT_VERIFIED, Ending.artifact(this));
    }
    tell(true, reason, sentence, "failed");
  }

  /** It is at work, or waits. What was saved before stays what it is. */
  void working(Reason why, String sentence) {
    if (isSavedBefore()) {
      report.done(Reason.ARTIFACT_VERIFIED, Ending.artifact(this));
    } else {
      report.working(why, sentence);
    }
  }

  /** Whether an earlier suspension has left an artifact. */
  private boolean isSavedBefore() {
    return status.getArtifact() != null && Frozen.suspensions(this) > 0;
  }

  /** Whether the workload shall be suspended now. */
  boolean wantsSuspended() {
    TimeSliceScheduler slices = new TimeSliceScheduler(this);
    return spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && spec().getDesiredState() != DesiredState.RUNNING
        && !isCancelled()
        && !isDeleted()
        && !(slices.isOn() && slices.verdict().runs());
  }

  /** Whether it stays in the memory of its node. */
  boolean isSuspended() {
    return new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of()))
        .isTrue(ConditionType.SUSPENDED);
  }

  void act(Act act) {
    acts.add(act);
  }

  /** Says it on the pod, when there is one. */
  void mark(PodConditionUpdate mark) {
    pod().ifPresent(pod -> act(new Act.MarkPod(pod, mark)));
  }

  /** Tells it on the object and on the pod. */
  void tell(boolean warning, Reason reason, String sentence, String occasion) {
    stories.add(new Story(object, warning, reason, sentence, occasion));
    String onPod = "GpuCheckpoint %s: %s".formatted(object.getMetadata().getName(), sentence);
    pod()
        .ifPresent(
            pod -> stories.add(new Story(pod, warning, reason, onPod, uid() + "/" + occasion)));
  }

  /** Looks again after that time, or sooner. */
  void again(Duration after) {
    if (again == null || after.compareTo(again) < 0) {
      again = after.isNegative() ? Duration.ZERO : after;
    }
  }

  void againAt(Instant time) {
    again(Duration.between(now(), time));
  }

  /**
   * Orders a failed operation once more: the later, the longer it keeps failing.
   *
   * @param since when it was ordered for the first time
   */
  void retry(OperationView failed, Instant since) {
    Instant end = failed.entered();
    Instant due =
        end.plus(new Backoff(config().progressEvery(), Backoff.PATIENT).after(since, end));
    if (now().isBefore(due)) {
      againAt(due);
    } else {
      act(new Act.Release(failed));
    }
  }

  /** Puts what was reported into the status. */
  void finish() {
    report.writeTo(status);
  }

  /** The object may go. */
  void letGo() {
    over = true;
  }

  List<Act> acts() {
    return acts;
  }

  List<Story> stories() {
    return stories;
  }

  Optional<Duration> again() {
    return Optional.ofNullable(again);
  }

  boolean isOver() {
    return over;
  }
}
