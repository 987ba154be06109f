package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Looks at what the workload of a container does now, whatever was done with it before. */
public final class Look {

  /** The driver answers in a millisecond; half a minute means that it is in trouble. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  private final NodeParts node;

  Look(NodeParts node) {
    this.node = node;
  }

  /**
   * What was seen.
   *
   * @param state in which state it is
   * @param processes how many processes it has
   */
  public record Seen(SourceState state, int processes) {}

  /** Looks; touches nothing. */
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

  /**
   * What a restored workload shows, when its restore was proven and everything of it runs; empty
   * otherwise.
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
    int own =
        node.proc()
            .status(process.pid())
            .map(status -> status.nsPids().get(status.nsPids().size() - 1))
            .orElse(0);
    boolean cuda =
        node.driver().restoreThread(process, QUESTION_DEADLINE)
                instanceof DriverAnswer.Done<CudaCall> done
            && done.value().restoreThread().isPresent();
    long bytes =
        cuda
                && node.driver().memoryOf(process, QUESTION_DEADLINE)
                    instanceof DriverAnswer.Done<Map<GpuUuid, Long>> memory
            ? memory.value().values().stream().mapToLong(Long::longValue).sum()
            : 0;
    return new ProvenProcess(
        own, process, stat.comm(), stat.state(), cuda ? CudaState.RUNNING : null, bytes);
  }

  /** The work in hand in a container; empty when there is none. */
  public Optional<Work> inHand(String containerId) {
    return node.journal().read(containerId);
  }

  /** Of a workload without a journal; says for which of its processes the driver was not asked. */
  private Work unheard(Container container, List<ProcessId> living, List<String> unanswered) {
    List<CudaProcess> cuda = new ArrayList<>();
    for (ProcessId process : living) {
      DriverAnswer<CudaCall> answer = node.driver().restoreThread(process, QUESTION_DEADLINE);
      if (!(answer instanceof DriverAnswer.Done<CudaCall> done)) {
        unanswered.add("process %s: %s".formatted(process, answer.describe()));
      } else if (done.value().restoreThread().isPresent()) {
        cuda.add(new CudaProcess(process, done.value().restoreThread().getAsInt(), Map.of()));
      }
    }
    return new Work(
        Work.FORMAT,
        node.proc().bootId(),
        "look",
        "look",
        Work.Kind.FREEZE,
        After.RESUME,
        Work.Phase.WORKING,
        node.clock().instant(),
        container.id(),
        container.root(),
        cuda,
        living,
        List.of(),
        List.of(),
        null,
        null,
        null,
        List.of());
  }
}
