package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Resume, Thaw and End of what another operation left frozen. */
final class ThawJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final ActiveOperations held;
  private final AfterHooks hooks;

  ThawJob(AgentParts parts, OperationRecorder recorder, ActiveOperations held, AfterHooks hooks) {
    this.parts = parts;
    this.recorder = recorder;
    this.held = held;
    this.hooks = hooks;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    Named named = named(operation);
    boolean ends = operation.type() == OperationType.END;
    if (ends) {
      requireDeleted(operation.pod());
    }
    if (named.work().isEmpty()) {
      return nothingInHand(operation, named, ends);
    }
    Work work = named.work().get();
    recorder.begin(operation);
    StepListener listener = new EngineProgressListener(operation, recorder);
    ThawOutcome outcome =
        ends
            ? parts.engine().evicted().end(work.containerId())
            : parts.engine().thaw().run(work.id(), listener);
    if (!(outcome instanceof ThawOutcome.Ended ended)) {
      return OperationResult.refused(
          List.of(
              Faults.of(
                  "AnotherOperation",
                  "container " + work.containerId(),
                  "at rest",
                  ((ThawOutcome.NotFound) outcome).why())));
    }
    parts.metrics().steps(operation.type(), "Memory", ended.timings());
    OperationResult result =
        hooks.after(
            operation,
            named.order(),
            timed(result(operation, work, ended.state(), ends), work, ended.took(), ends));
    return result.outcome() == Outcome.DONE ? decided(named, result) : result;
  }

  /** Ends the operation that was held until this one. */
  private OperationResult decided(Named named, OperationResult result) {
    held.decided(named.operation(), result);
    return result;
  }

  /**
   * What another operation left frozen.
   *
   * @param operation name of that operation
   * @param order the options of its freeze
   * @param work the engine's record of it; empty if there is none
   */
  record Named(String operation, @Nullable FreezeOrder order, Optional<Work> work) {}

  /** Finds what another operation left frozen in exactly that pod. */
  private Named named(ActiveOperation operation) throws Refused, ApiUnreachable {
    String name = Objects.requireNonNull(operation.spec().getOfOperation());
    Optional<GpuNodeOperation> found = parts.cluster().operation(name);
    if (found.isEmpty()) {
      throw new Refused("NotFrozen", "ofOperation", name, "no such operation");
    }
    GpuNodeOperation of = found.get();
    OperationPod wanted = operation.pod();
    OperationPod frozen = of.getSpec().getPod();
    if (!parts.nodeName().equals(of.getSpec().getNodeName())
        || frozen == null
        || !frozen.uid().equals(wanted.uid())
        || !frozen.containerName().equals(wanted.containerName())) {
      throw new Refused(
          "NotFrozen",
          "pod of " + name,
          wanted.uid() + "/" + wanted.containerName(),
          frozen == null ? "none" : frozen.uid() + "/" + frozen.containerName());
    }
    String uid = of.getMetadata().getUid();
    Optional<Work> work = parts.work(uid);
    return new Named(name, of.getSpec().getFreeze(), work);
  }

  /** Refuses an End that comes too early: the kubelet would start the container again. */
  private void requireDeleted(OperationPod pod) throws Refused, ApiUnreachable {
    if (!new PodLookup(parts).isDeleted(pod)) {
      throw new Refused("PodNotDeleted", "pod.metadata.deletionTimestamp", "a time", "none");
    }
  }

  /** It was done before, by an operation whose end was not recorded, or the workload was lost. */
  private OperationResult nothingInHand(ActiveOperation operation, Named named, boolean ends)
      throws Refused, IOException, InterruptedException {
    String container;
    try {
      container = new PodLookup(parts).place(operation.pod()).container().id();
    } catch (Refused gone) {
      if (ends) {
        return decided(named, ended(0));
      }
      throw gone;
    }
    var seen = parts.engine().look().at(container);
    if (ends && seen.state().kind() == SourceState.Kind.GONE) {
      return decided(named, ended(0));
    }
    if (!ends && seen.state().kind() == SourceState.Kind.RUNNING) {
      return decided(
          named, hooks.after(operation, named.order(), ran(seen.state(), seen.processes())));
    }
    throw new Refused(
        "NotFrozen",
        "workload of " + named.operation(),
        ends ? "held" : "suspended or held",
        seen.state().detail());
  }

  private OperationResult result(
      ActiveOperation operation, Work work, SourceState state, boolean ends)
      throws InterruptedException {
    int processes = parts.engine().look().at(work.containerId()).processes();
    switch (state.kind()) {
      case RUNNING -> {
        return ran(state, processes);
      }
      case GONE -> {
        if (ends) {
          return ended(processes);
        }
        return OperationResult.failed(
                Outcome.LOST, Faults.inStep("WorkloadGone", step(operation), state.detail()))
            .leaving(WorkloadState.ENDED, ConditionValue.FALSE, processes);
      }
      case FROZEN, UNKNOWN -> {
        Fault fault = Faults.inStep("NotThawed", step(operation), state.detail());
        return OperationResult.failed(Outcome.NOT_UNDONE, fault).leaving(state, processes);
      }
    }
    throw new IllegalStateException("an unexpected state: " + state);
  }

  /** The GPU is free at the end of a workload whose memory a keeper has held until then. */
  private OperationResult timed(OperationResult result, Work work, Duration took, boolean ends) {
    if (result.outcome() != Outcome.DONE || (ends && work.offloaded().isEmpty())) {
      return result;
    }
    long freed = Duration.between(work.since(), parts.clock().instant()).toMillis();
    return result.with(
        status -> {
          CheckpointTimings timings =
              Objects.requireNonNullElseGet(status.getTimings(), CheckpointTimings::new);
          if (ends) {
            timings.setFreedMilliseconds(freed);
          } else {
            timings.setResumeMilliseconds(took.toMillis());
          }
          status.setTimings(timings);
        });
  }

  private static String step(ActiveOperation operation) {
    return operation.type().value().toLowerCase(Locale.ROOT);
  }

  private static OperationResult ran(SourceState state, int processes) {
    return OperationResult.done("Running", state.detail())
        .leaving(WorkloadState.RUNNING, ConditionValue.TRUE, processes);
  }

  private static OperationResult ended(int processes) {
    return OperationResult.done("Ended", "the processes of the workload have ended")
        .leaving(WorkloadState.ENDED, ConditionValue.FALSE, processes);
  }
}
