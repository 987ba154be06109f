package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Thaws a frozen, suspended or partially frozen workload from its journal alone, without the memory
 * of an agent and without the API server. Also the resume of a suspend.
 */
public final class Thaw {

  private static final System.Logger LOG = System.getLogger(Thaw.class.getName());

  /** A user's thaw, the only other program that may be at work on the container, takes seconds. */
  private static final Duration USER = Duration.ofSeconds(10);

  private final NodeParts node;

  Thaw(NodeParts node) {
    this.node = node;
  }

  /** Returns all recorded operations of this node, oldest first. */
  public List<Work> inHand() {
    return node.journal().all();
  }

  /**
   * Records how the requester of an operation describes it now; does nothing if the operation has
   * left no work.
   *
   * @throws UncheckedIOException if it could not be recorded
   */
  public void describe(String id, JsonNode operation) throws InterruptedException {
    for (Work work : inHand()) {
      if (work.id().equals(id) && work.phase() != Work.Phase.UNKNOWN) {
        Optional<HostLocks.Held> lock = node.locks().take(work.containerId(), USER);
        try (HostLocks.Held held = lock.orElseThrow(() -> new UncheckedIOException(busy(work)))) {
          node.journal()
              .read(work.containerId())
              .filter(now -> now.id().equals(id))
              .ifPresent(now -> node.journal().write(now.withOperation(operation)));
        }
      }
    }
  }

  private static IOException busy(Work work) {
    return new IOException(
        "container %s: expected it to be idle, got another program that works on it"
            .formatted(work.containerId()));
  }

  /**
   * Removes the staged memory of suspended workloads that have ended, which nothing can use any
   * more, unless their artifact is not published yet. Their records stay: a resume reports from
   * them that they have ended.
   */
  public void removeStagesOfEnded() {
    for (Work work : inHand()) {
      if (hasEndedSuspended(work)) {
        node.locks().tryTake(work.containerId()).ifPresent(lock -> removeStage(lock, work));
      }
    }
  }

  /**
   * Removes what killed agents have left of finished operations: files beside a journal that was
   * removed, such as criu's images, and reservations of memory.
   */
  public void removeRemains() {
    try {
      for (String container : node.journal().withoutRecord()) {
        node.locks().tryTake(container).ifPresent(lock -> removeRemains(lock, container));
      }
      node.ledger().removeForgotten();
    } catch (IOException | StepFailure | UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "remains of killed agents", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void removeRemains(HostLocks.Held lock, String container) {
    try (lock) {
      if (node.journal().read(container).isEmpty()) {
        node.journal().remove(container);
      }
    }
  }

  private void removeStage(HostLocks.Held lock, Work work) {
    try (lock) {
      Optional<Work> now = node.journal().read(work.containerId()).filter(this::hasEndedSuspended);
      if (now.isPresent() && !new InterruptedPublication(node).isPending(now.get())) {
        new StageFiles(new FrozenWork(node, now.get(), StepListener.NONE)).remove();
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "the stage of " + work.id(), e);
    }
  }

  /** Returns whether it was suspended and has a stage, and none of its processes exists. */
  private boolean hasEndedSuspended(Work work) {
    @Nullable String stage = work.stage();
    return work.phase() == Work.Phase.SUSPENDED
        && stage != null
        && Files.exists(Path.of(stage))
        && work.bootId().equals(node.proc().bootId())
        && Stream.of(
                Stream.of(work.init()),
                work.cuda().stream().map(CudaProcess::process),
                work.tree().stream())
            .flatMap(each -> each)
            .noneMatch(node.proc()::alive);
  }

  /**
   * Thaws one container.
   *
   * @param name the container's id, a unique prefix of it, or the operation's id
   */
  public ThawOutcome run(String name, StepListener listener) throws InterruptedException {
    List<Work> matching =
        inHand().stream()
            .filter(work -> work.containerId().startsWith(name) || work.id().equals(name))
            .toList();
    if (matching.size() != 1) {
      return new ThawOutcome.NotFound(
          "frozen workload %s: expected exactly one, got %d of %d recorded ones"
              .formatted(name, matching.size(), inHand().size()));
    }
    Work work = matching.get(0);
    Optional<HostLocks.Held> lock = node.locks().tryTake(work.containerId());
    if (lock.isEmpty()) {
      return new ThawOutcome.NotFound(
          ("container %s: expected it to be idle, got an operation of an agent; cancel the"
                  + " operation first")
              .formatted(work.containerId()));
    }
    try (HostLocks.Held held = lock.get()) {
      // Read again under the lock: its previous holder may have finished the operation.
      Optional<Work> now = node.journal().read(work.containerId());
      return now.isPresent()
          ? locked(now.get(), listener)
          : new ThawOutcome.NotFound("container " + work.containerId() + " is no longer frozen");
    }
  }

  private ThawOutcome locked(Work work, StepListener listener) throws InterruptedException {
    StepRunner runner = new StepRunner(node.nanoTime(), listener);
    long begin = node.nanoTime().getAsLong();
    if (work.phase() == Work.Phase.UNKNOWN) {
      return ended(new SourceState(SourceState.Kind.UNKNOWN, work.owner()), runner, begin);
    }
    if (!work.bootId().equals(node.proc().bootId())) {
      forget(new FrozenWork(node, work, listener));
      return ended(
          new SourceState(SourceState.Kind.GONE, "the node rebooted after the freeze"),
          runner,
          begin);
    }
    FrozenWork frozen = new FrozenWork(node, work, listener);
    if (work.phase() == Work.Phase.ENDING) {
      return ended(new Evicted(node).finish(frozen), runner, begin);
    }
    if (work.kind() == Work.Kind.RESTORE) {
      SourceState state =
          work.phase() == Work.Phase.PUBLISHING ? proven(frozen) : new RestoredTree(frozen).end();
      if (work.phase() == Work.Phase.PUBLISHING || state.kind() == SourceState.Kind.GONE) {
        forget(frozen);
      }
      return ended(state, runner, begin);
    }
    List<ProcessId> before = endedSuspended(work);
    SourceState state = new ThawRun(frozen, runner, Checkpoint.steps()).run();
    InterruptedPublication publication = new InterruptedPublication(node);
    if (state.kind() == SourceState.Kind.UNKNOWN
        && !before.isEmpty()
        && !publication.isPending(work)) {
      state = withoutEnded(frozen.work(), before, state);
    }
    if (state.kind() == SourceState.Kind.GONE && publication.isPending(frozen.work())) {
      var unused = publication.completeLocked(frozen.work());
    }
    state = publication.unlessOnlyCopy(frozen.work(), state);
    if (state.kind() == SourceState.Kind.RUNNING || state.kind() == SourceState.Kind.GONE) {
      forget(frozen);
    }
    return ended(state, runner, begin);
  }

  /** Returns the CUDA processes that have ended by themselves while the workload was suspended. */
  private List<ProcessId> endedSuspended(Work work) {
    return work.phase() == Work.Phase.SUSPENDED
        ? work.cuda().stream()
            .map(CudaProcess::process)
            .filter(process -> !node.proc().alive(process))
            .toList()
        : List.of();
  }

  /**
   * Returns that the workload runs if all of its other processes do; otherwise the given state.
   * Those that have ended cannot be thawed by a further attempt, and without this the workload
   * would count as frozen until its container ends.
   */
  private SourceState withoutEnded(Work work, List<ProcessId> ended, SourceState state)
      throws InterruptedException {
    Work others =
        work.withCuda(work.cuda().stream().filter(one -> !ended.contains(one.process())).toList())
            .withOffloaded(
                work.offloaded().stream().filter(one -> !ended.contains(one.process())).toList(),
                work.stage());
    SourceState seen = new SourceProbe(new FrozenWork(node, others, StepListener.NONE)).look();
    return seen.kind() == SourceState.Kind.RUNNING
        ? new SourceState(
            seen.kind(), "%s; ended while suspended: %s".formatted(seen.detail(), ended))
        : state;
  }

  /** The verification succeeded: only its mark may be missing. */
  private static SourceState proven(FrozenWork frozen) throws InterruptedException {
    Path folder = frozen.node().proc().folder(frozen.work().init().pid()).resolve("root/.stasis");
    try {
      if (frozen.alive(frozen.work().init())) {
        ProveStep.mark(folder);
      }
    } catch (StepFailure e) {
      LOG.log(System.Logger.Level.WARNING, "Cannot write the mark of a verified restore", e);
    }
    return new SourceProbe(frozen).look();
  }

  private ThawOutcome ended(SourceState state, StepRunner runner, long begin) {
    return new ThawOutcome.Ended(
        state, runner.timings(), Duration.ofNanos(node.nanoTime().getAsLong() - begin));
  }

  private void forget(FrozenWork frozen) throws InterruptedException {
    try {
      node.keepers().rest(frozen.work().containerId());
      new StageFiles(frozen).remove();
      node.journal().remove(frozen.work().containerId());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "leftovers of " + frozen.work().id(), e);
      return;
    }
    @Nullable String staging = frozen.work().artifactStage();
    if (staging != null) {
      Path stage = Path.of(staging);
      // Last, because its store may be what has failed: memory must not stay in use because of it.
      new StoreCalls(node.storeSilence())
          .last("deletion of " + stage, () -> removeUnpublished(stage));
    }
  }

  /** The staging folder of an artifact that will never be sealed, and its owner file. */
  private void removeUnpublished(Path folder) throws IOException {
    Path store = folder.getParent();
    if (store != null && Files.isDirectory(folder)) {
      new ArtifactStore(store, node.clock()).sweep(List.of(folder));
    }
  }
}
