package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.ProvenProcess;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkloadInspector;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Optional;

/**
 * Recovers operations that an agent left unfinished. The engine's journal shows what was done, and
 * the state of the processes is always read, never assumed.
 */
final class InterruptedOperationRecovery {

  private static final System.Logger LOG =
      System.getLogger(InterruptedOperationRecovery.class.getName());

  /**
   * A frozen workload is worth several attempts: helpers of the dead agent, or a busy machine, may
   * be why the first one failed. Each attempt has its own deadlines.
   */
  private static final int THAWS = 3;

  private static final String RESTARTED = "the agent restarted during the operation";

  private final AgentParts parts;
  private final PublishedArtifact published;

  InterruptedOperationRecovery(AgentParts parts) {
    this.parts = parts;
    this.published = new PublishedArtifact(parts);
  }

  /** Recovers one that was started or held; empty if it is simply executed again. */
  Optional<OperationResult> settle(ActiveOperation operation)
      throws ApiUnreachable, NodeApiException, InterruptedException {
    if (!operation.isJournaled()) {
      return Optional.empty();
    }
    if (!operation.isOfBoot(parts.engine().bootId())) {
      return Optional.of(afterReboot(operation));
    }
    OperationPhase phase = operation.status().getPhase();
    boolean journaled = parts.work(operation.uid()).isPresent();
    if (phase == OperationPhase.CLAIMED && !journaled) {
      return doneUnreported(operation);
    }
    Optional<OperationResult> decided =
        phase == OperationPhase.HELD && !journaled ? decided(operation) : Optional.empty();
    String fault = operation.fault();
    String reason = fault == null ? Faults.AGENT_RESTARTED : Faults.INTERNAL;
    return decided.isPresent()
        ? decided
        : Optional.of(of(operation, reason, Objects.requireNonNullElse(fault, RESTARTED)));
  }

  /**
   * The processes are gone. An evicted pod can be restored, if its artifact was stored before that.
   */
  private OperationResult afterReboot(ActiveOperation operation) throws ApiUnreachable {
    OperationResult lost =
        OperationResult.failed(
                Outcome.LOST,
                Faults.inStep("WorkloadGone", "begin", "the node rebooted after the claim"))
            .leaving(
                WorkloadState.ENDED,
                operation.type() == OperationType.RESTORE ? null : ConditionValue.FALSE,
                null);
    return operation.status().getPhase() == OperationPhase.HELD
            && new PodLookup(parts).isDeleted(operation.pod())
        ? published.afterReboot(operation, lost)
        : lost;
  }

  /**
   * Returns the result of an operation that was completed while the API server was unreachable;
   * empty if it was not. Its journal is gone then, and a second execution could only fail.
   */
  private Optional<OperationResult> doneUnreported(ActiveOperation operation)
      throws NodeApiException, InterruptedException {
    OperationPod pod = operation.pod();
    FreezeOrder freeze = operation.spec().getFreeze();
    if ((freeze != null && freeze.getDryRun())
        || !(parts.containers().locate(pod.uid(), pod.containerName())
            instanceof PodContainers.Located.Running running)) {
      return Optional.empty();
    }
    String container = running.container().id();
    if (operation.type() != OperationType.RESTORE) {
      WorkloadInspector.Seen seen = parts.engine().look().at(container);
      return resumed(operation, seen.state())
          .map(artifact -> OperationResult.resumed(artifact, seen.state(), seen.processes()));
    }
    // Only a verified restore leaves something without a journal, whether it runs now or not.
    return parts.engine().look().restored(container).kind() == SourceState.Kind.GONE
        ? Optional.empty()
        : Optional.of(
            restored(container, Faults.inStep(Faults.AGENT_RESTARTED, step(operation), RESTARTED)));
  }

  /**
   * Returns the result of an operation that was held and whose journal is gone: a Thaw or an End
   * was completed, or its deadline passed, which deletes its artifact. Empty if it was lost.
   */
  private Optional<OperationResult> decided(ActiveOperation operation)
      throws ApiUnreachable, InterruptedException {
    WorkloadInspector.Seen seen = parts.engine().look().at(operation.containerId());
    boolean decided =
        switch (seen.state().kind()) {
          case RUNNING ->
              operation.isHeldUntilDecided()
                  || published.find(operation, Work.Phase.PUBLISHING).isPresent();
          case GONE ->
              parts.cluster().operations().stream()
                  .anyMatch(other -> isEnd(other, operation.name()));
          case FROZEN, UNKNOWN -> false;
        };
    return decided
        ? Optional.of(
            OperationResult.done(
                    seen.state().kind() == SourceState.Kind.RUNNING ? "Running" : "Ended",
                    seen.state().detail())
                .leaving(seen))
        : Optional.empty();
  }

  /** Returns whether an operation is an End of that one, and has not failed. */
  private static boolean isEnd(GpuNodeOperation operation, String of) {
    GpuNodeOperationStatus status = operation.getStatus();
    Outcome outcome = status == null ? null : status.getOutcome();
    return operation.getSpec().getType() == OperationType.END
        && of.equals(operation.getSpec().getOfOperation())
        && (outcome == null || outcome == Outcome.DONE);
  }

  /**
   * Finishes a freeze or a restore.
   *
   * @param why why it is not simply continued, for the fault
   */
  OperationResult of(ActiveOperation operation, String reason, String why)
      throws InterruptedException {
    Optional<Work> work = parts.work(operation.uid());
    Fault fault = Faults.inStep(reason, step(operation), why);
    return operation.type() == OperationType.RESTORE
        ? restore(operation, work, fault)
        : freeze(operation, work, fault);
  }

  /** Thaws a held workload. */
  OperationResult thawed(ActiveOperation operation, String reason, String why)
      throws InterruptedException {
    Optional<Work> work = parts.work(operation.uid());
    String container = container(operation, work);
    if (work.isPresent()) {
      thaw(work.get());
    }
    WorkloadInspector.Seen seen = parts.engine().look().at(container);
    return OperationResult.failedFreeze(
        Faults.inStep(reason, "held", why), seen.state(), seen.processes());
  }

  private static String step(ActiveOperation operation) {
    return Objects.requireNonNullElse(operation.status().getStep(), "begin");
  }

  private OperationResult restore(ActiveOperation operation, Optional<Work> work, Fault fault)
      throws InterruptedException {
    if (work.isPresent()) {
      SourceState left = thaw(work.get());
      if (work.get().phase() != Work.Phase.PUBLISHING) {
        return unproven(fault, left);
      }
    }
    return restored(container(operation, work), fault);
  }

  /** Returns the result of a restore without unfinished work, according to its target. */
  private OperationResult restored(String container, Fault fault) throws InterruptedException {
    Optional<OperationResult> proven = proven(container);
    return proven.isPresent()
        ? proven.get()
        : unproven(fault, parts.engine().look().restored(container));
  }

  /** A restored workload that may run must not count as ended: its source would be thawed. */
  private static OperationResult unproven(Fault fault, SourceState left) {
    return left.kind() == SourceState.Kind.GONE
        ? OperationResult.failed(Outcome.UNDONE, fault).leaving(WorkloadState.ENDED, null, null)
        : OperationResult.failed(Outcome.NOT_UNDONE, fault)
            .leaving(OperationResult.workload(left), null, null);
  }

  private Optional<OperationResult> proven(String container) throws InterruptedException {
    return parts
        .engine()
        .look()
        .proven(container)
        .map(
            processes -> {
              long bytes = processes.stream().mapToLong(ProvenProcess::gpuBytes).sum();
              return OperationResult.proven(parts.clock().instant(), processes, bytes);
            });
  }

  /** Returns the artifact of a checkpoint whose workload runs, if it is published. */
  private Optional<ArtifactStatus> resumed(ActiveOperation operation, SourceState state) {
    return order(operation) == Afterwards.RESUME && state.kind() == SourceState.Kind.RUNNING
        ? published.find(operation, Work.Phase.PUBLISHING)
        : Optional.empty();
  }

  private OperationResult freeze(ActiveOperation operation, Optional<Work> work, Fault fault)
      throws InterruptedException {
    boolean undoing = operation.status().getPhase() == OperationPhase.UNDOING;
    if (work.isEmpty()) {
      WorkloadInspector.Seen seen = parts.engine().look().at(operation.containerId());
      return OperationResult.recovered(resumed(operation, seen.state()), undoing, seen, fault);
    }
    Work found = work.get();
    boolean ofThisBoot = found.bootId().equals(parts.engine().bootId());
    if (ofThisBoot && found.phase() == Work.Phase.SUSPENDED) {
      Optional<OperationResult> suspended = suspended(operation, found.phase());
      if (suspended.isPresent()) {
        return suspended.get();
      }
    }
    if (ofThisBoot && found.after() == After.EVICT && found.phase() != Work.Phase.ENDING) {
      Optional<ArtifactStatus> artifact =
          parts.engine().interruptedPublication().mayBePublished(found)
              ? published
                  .find(operation, found.phase())
                  .or(() -> recorded(operation, found.phase()))
              : Optional.empty();
      boolean holds =
          (artifact.isPresent() || found.mayRunElsewhere())
              && parts.engine().evicted().hold(found.containerId());
      if (holds || found.mayRunElsewhere()) {
        return OperationResult.held(artifact.orElse(null));
      }
    }
    boolean resumes = order(operation) == Afterwards.RESUME;
    Optional<ArtifactStatus> artifact =
        ofThisBoot && resumes ? captured(operation, found) : Optional.empty();
    SourceState state = thaw(found);
    if (artifact.isEmpty() && state.kind() == SourceState.Kind.GONE) {
      // The thaw publishes a capture that is the only copy.
      artifact = published.find(operation, found.phase());
    }
    int processes = parts.engine().look().at(found.containerId()).processes();
    // The end of one that was to be held or suspended need not be that of its pod.
    OperationResult result =
        OperationResult.recovered(
            artifact, undoing || !resumes, new WorkloadInspector.Seen(state, processes), fault);
    return state.kind() == SourceState.Kind.UNKNOWN
        ? result.with(status -> status.setMessage(fault.message() + "; " + state.detail()))
        : result;
  }

  /**
   * Returns the artifact of a complete capture, published now if its agent died before that: the
   * next thaw may fail permanently, and after a thaw the workload has changed. A frozen workload
   * without a complete capture does not wait for the API server or for a store.
   */
  private Optional<ArtifactStatus> captured(ActiveOperation operation, Work work)
      throws InterruptedException {
    if (work.phase() != Work.Phase.PUBLISHING
        && !parts.engine().interruptedPublication().isCaptured(work)) {
      return Optional.empty();
    }
    Optional<ArtifactStatus> artifact = published.find(operation, work.phase());
    return artifact.isPresent() || !parts.engine().interruptedPublication().complete(work)
        ? artifact
        : published.find(operation, work.phase());
  }

  /**
   * The artifact of a held operation as reported: it was durable before that. That it cannot be
   * read now (the API server or the store does not answer) must not thaw a workload whose pod may
   * be gone already.
   */
  private static Optional<ArtifactStatus> recorded(ActiveOperation operation, Work.Phase phase) {
    return phase == Work.Phase.HELD
        ? Optional.ofNullable(operation.status().getArtifact())
        : Optional.empty();
  }

  private static Afterwards order(ActiveOperation operation) {
    if (operation.type() == OperationType.SUSPEND || operation.spec().getFreeze() == null) {
      return Afterwards.SUSPEND;
    }
    return operation.spec().getFreeze().getAfterwards();
  }

  private static String container(ActiveOperation operation, Optional<Work> work) {
    return work.map(Work::containerId).orElseGet(operation::containerId);
  }

  private SourceState thaw(Work work) throws InterruptedException {
    SourceState state = thawOnce(work);
    for (int more = 1; more < THAWS && state.kind() == SourceState.Kind.FROZEN; more++) {
      state = thawOnce(work);
    }
    return state;
  }

  private SourceState thawOnce(Work work) throws InterruptedException {
    ThawOutcome outcome = parts.engine().thaw().run(work.id(), StepListener.NONE);
    LOG.log(Level.INFO, "Thaw of {0} tried for {1}: {2}", work.id(), work.owner(), outcome);
    return outcome instanceof ThawOutcome.Ended ended
        ? ended.state()
        : new SourceState(SourceState.Kind.UNKNOWN, ((ThawOutcome.NotFound) outcome).why());
  }

  private Optional<OperationResult> suspended(ActiveOperation operation, Work.Phase phase) {
    OperationResult result =
        OperationResult.done("Suspended", "the workload is in host memory")
            .leaving(WorkloadState.SUSPENDED, ConditionValue.FALSE, null);
    if (operation.spec().getArtifact() == null) {
      return Optional.of(result);
    }
    return published
        .find(operation, phase)
        .map(artifact -> result.with(status -> status.setArtifact(artifact)));
  }
}
