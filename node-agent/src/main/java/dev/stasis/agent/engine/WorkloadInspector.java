package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.ProcessStatus;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Determines the current state of a container's workload, whatever was done with it before. */
public final class WorkloadInspector {

  private final NodeParts node;

  WorkloadInspector(NodeParts node) {
    this.node = node;
  }

  /** The observed state. */
  public record Seen(SourceState state, int processes) {}

  /** Observes the state; changes nothing. */
  public Seen at(String containerId) throws InterruptedException {
    if (!(node.containers().resolve(containerId) instanceof Resolution.Found found)) {
      return new Seen(
          new SourceState(SourceState.Kind.GONE, "container " + containerId + " does not run"), 0);
    }
    Container container = found.container();
    List<ProcessId> living = node.tree().list(container).living();
    List<String> unanswered = new ArrayList<>();
    Work work =
        node.journal().read(container.id()).orElseGet(() -> unheard(container, living, unanswered));
    if (work.phase() == Work.Phase.UNKNOWN) {
      return new Seen(new SourceState(SourceState.Kind.UNKNOWN, work.owner()), living.size());
    }
    SourceState state = new SourceProbe(new FrozenWork(node, work, StepListener.NONE)).look();
    boolean guessed = state.kind() == SourceState.Kind.RUNNING && !unanswered.isEmpty();
    return new Seen(
        guessed ? new SourceState(SourceState.Kind.UNKNOWN, unanswered.get(0)) : state,
        living.size());
  }

  /** Returns the state of what a restore has left in its target, where it may be nothing. */
  public SourceState restored(String containerId) throws InterruptedException {
    return node.containers().resolve(containerId) instanceof Resolution.Found found
            && !found.container().isRestored()
        ? new SourceState(SourceState.Kind.GONE, "nothing was restored in " + containerId)
        : at(containerId).state();
  }

  /**
   * Returns the state of a restored workload, if its restore was verified and all of it runs;
   * otherwise empty.
   */
  public Optional<List<ProvenProcess>> proven(String containerId) throws InterruptedException {
    if (!(node.containers().resolve(containerId) instanceof Resolution.Found found)
        || !found.container().isRestored()
        || !Files.exists(
            node.proc()
                .folder(found.container().init().pid())
                .resolve("root/.stasis")
                .resolve(ProveStep.MARK),
            LinkOption.NOFOLLOW_LINKS)
        || at(containerId).state().kind() != SourceState.Kind.RUNNING) {
      return Optional.empty();
    }
    List<ProvenProcess> processes = new ArrayList<>();
    for (ProcessId process : node.tree().list(found.container()).living()) {
      node.proc().stat(process).ifPresent(stat -> processes.add(seen(process, stat)));
    }
    return Optional.of(processes);
  }

  private ProvenProcess seen(ProcessId process, ProcessStat stat) {
    int own = node.proc().status(process.pid()).map(ProcessStatus::ownPid).orElse(0);
    boolean cuda =
        node.driver().restoreThread(process) instanceof DriverAnswer.Done<CudaCall> done
            && done.value().restoreThread().isPresent();
    long bytes =
        cuda
                && node.driver().memoryOf(process)
                    instanceof DriverAnswer.Done<Map<GpuUuid, Long>> memory
            ? memory.value().values().stream().mapToLong(Long::longValue).sum()
            : 0;
    return new ProvenProcess(
        own, process, stat.comm(), stat.state(), cuda ? CudaState.RUNNING : null, bytes);
  }

  /**
   * For a workload without a journal; reports the processes whose use of CUDA is not known.
   * Processes without CUDA are left out: they may stop and end at any time, and no freeze has
   * stopped them.
   */
  private Work unheard(Container container, List<ProcessId> living, List<String> unanswered) {
    CudaUse use = CudaUse.of(node);
    List<CudaProcess> cuda = new ArrayList<>();
    List<ProcessId> tree = new ArrayList<>();
    for (ProcessId process : living) {
      try {
        OptionalInt thread = use.restoreThread(process);
        if (thread.isPresent()) {
          cuda.add(new CudaProcess(process, thread.getAsInt(), Map.of()));
          tree.add(process);
        }
      } catch (StepFailure unknown) {
        unanswered.add(String.valueOf(unknown.getMessage()));
        tree.add(process);
      }
    }
    return new Work(
            node.proc().bootId(),
            "look",
            "look",
            Work.Kind.FREEZE,
            After.RESUME,
            false,
            Work.Phase.WORKING,
            node.clock().instant(),
            container.id(),
            container.root(),
            null,
            null)
        .withCuda(cuda)
        .withTree(tree, List.of());
  }
}
