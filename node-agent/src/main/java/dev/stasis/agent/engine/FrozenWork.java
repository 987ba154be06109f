package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A recorded operation and its node: everything that an undo needs, which is no more than a journal
 * contains.
 */
class FrozenWork {

  private static final System.Logger LOG = System.getLogger(FrozenWork.class.getName());

  private final NodeParts node;
  private final StepListener listener;
  private Work work;

  FrozenWork(NodeParts node, Work work, StepListener listener) {
    this.node = node;
    this.listener = listener;
    this.work = described(work);
  }

  NodeParts node() {
    return node;
  }

  StepListener listener() {
    return listener;
  }

  synchronized Work work() {
    return work;
  }

  /** With the current description of the operation, if its requester has one. */
  private Work described(Work next) {
    return listener.operation().map(next::withOperation).orElse(next);
  }

  /** Changes the record and writes it; called before the corresponding action. */
  synchronized void note(UnaryOperator<Work> change) {
    Work next = described(change.apply(work));
    if (!next.equals(work)) {
      node.journal().write(next);
      work = next;
    }
  }

  /**
   * Changes the record and writes it if possible. For cases that must not fail because the state
   * folder is full: during an undo a record is less important than the workload, and a started
   * child must be ended in any case.
   */
  synchronized void noteIfPossible(UnaryOperator<Work> change) {
    try {
      note(change);
    } catch (UncheckedIOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Cannot update the journal; it is behind the actual state",
          e);
      work = change.apply(work);
    }
  }

  /**
   * Makes driver calls that copy device memory. If this agent dies meanwhile, or a call does not
   * return, {@link #awaitDriver} waits for the driver.
   */
  void copyByDriver(List<CudaProcess> processes, Parallel.Action<CudaProcess> call)
      throws StepFailure, InterruptedException {
    noteIfPossible(work -> work.withCopying(true));
    try {
      node.parallel().forEach(processes, call);
    } catch (StepFailure e) {
      if (!e.isAny(Reason.DRIVER_HANG)) {
        noteIfPossible(work -> work.withCopying(false));
      }
      throw e;
    }
    noteIfPossible(work -> work.withCopying(false));
  }

  /**
   * Waits until the driver has finished the copies that may still run. Meanwhile it reports the
   * state that they will reach.
   */
  void awaitDriver() throws StepFailure, InterruptedException {
    if (work().copying()) {
      node.parallel().forEach(cudaAlive(), node.calls()::settle);
      noteIfPossible(work -> work.withCopying(false));
    }
  }

  /** A child that outlives the agent. */
  void noteChild(ProcessHandle child) {
    node.proc().id((int) child.pid()).ifPresent(id -> noteIfPossible(now -> now.withChild(id)));
  }

  /** The CUDA processes that still exist. */
  List<CudaProcess> cudaAlive() {
    return work().cuda().stream().filter(one -> node.proc().alive(one.process())).toList();
  }

  /** The current container; empty if it has ended. */
  Optional<Container> container() {
    Work now = work();
    if (!alive(now.init())) {
      return Optional.empty();
    }
    return node.containers().again(now.containerId()) instanceof Resolution.Found found
        ? Optional.of(found.container())
        : Optional.empty();
  }

  /** Returns the pid of a process in its own namespace. */
  int ownPid(ProcessId process) throws StepFailure {
    return node()
        .proc()
        .status(process.pid())
        .map(ProcessStatus::ownPid)
        .orElseThrow(
            () -> new StepFailure(Reason.WORKLOAD_GONE, "process " + process + " has ended"));
  }

  /** Returns whether any process still runs. */
  boolean alive(ProcessId process) {
    return node.proc().alive(process);
  }
}
