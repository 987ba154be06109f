package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.ProcessId;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A piece of work in hand and the node on which it is done: all that an undo needs, and no more
 * than a journal holds.
 */
class FrozenWork {

  private static final System.Logger LOG = System.getLogger(FrozenWork.class.getName());

  private final NodeParts node;
  private final StepListener listener;
  private Work work;

  FrozenWork(NodeParts node, Work work, StepListener listener) {
    this.node = node;
    this.work = work;
    this.listener = listener;
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

  /** Changes the work and writes it down; call before doing what it says. */
  synchronized void note(UnaryOperator<Work> change) {
    Work next = change.apply(work);
    if (!next.equals(work)) {
      node.journal().write(next);
      work = next;
    }
  }

  /**
   * Changes the work and writes it down if that is possible. For what must not fail because the
   * state folder is full: on the way back a note is worth less than the workload, and a child that
   * was started is to be ended in any case.
   */
  synchronized void noteIfPossible(UnaryOperator<Work> change) {
    try {
      note(change);
    } catch (UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "the journal is behind what is done", e);
      work = change.apply(work);
    }
  }

  /** A child of ours that outlives us. */
  void noteChild(ProcessHandle child) {
    node.proc().id((int) child.pid()).ifPresent(id -> noteIfPossible(now -> now.withChild(id)));
  }

  /** The CUDA processes that are still there. */
  List<CudaProcess> cudaAlive() {
    return work().cuda().stream().filter(one -> node.proc().alive(one.process())).toList();
  }

  /** The container as it is now; empty when it has ended. */
  Optional<Container> container() {
    Work now = work();
    if (!alive(now.init())) {
      return Optional.empty();
    }
    return node.containers().resolve(now.containerId()) instanceof Resolution.Found found
        ? Optional.of(found.container())
        : Optional.empty();
  }

  /** Whether somebody still runs. */
  boolean alive(ProcessId process) {
    return node.proc().alive(process);
  }
}
