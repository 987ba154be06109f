package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.FailedSyncException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One run of a checkpoint: forward, then back by the undos of the same steps, completely or in
 * part.
 */
final class CheckpointRun {

  private static final System.Logger LOG = System.getLogger(CheckpointRun.class.getName());

  /** A helper that was left behind ends once its disk responds, and this thread waits for that. */
  private static final Duration HELPER = Duration.ofDays(24);

  private final Freeze freeze;
  private final Inspected inspected;
  private final List<Step<Freeze, FrozenWork>> steps;
  private final NodeParts node;
  private final StepRunner runner;
  private final CapturePublication publication;
  private Duration frozen = Duration.ZERO;

  /** Whether everything that the artifact needs is staged, and the artifact may be kept. */
  private boolean captured;

  CheckpointRun(Freeze freeze, Inspected inspected, List<Step<Freeze, FrozenWork>> steps) {
    this.freeze = freeze;
    this.inspected = inspected;
    this.steps = steps;
    this.node = freeze.node();
    this.runner = new StepRunner(node.nanoTime(), freeze.listener());
    this.publication = new CapturePublication(freeze, inspected, runner.timings());
  }

  CheckpointOutcome run(OperationControl control) throws InterruptedException {
    // What a killed agent has not removed of an earlier journal, such as its capture.
    node.journal().remove(freeze.work().containerId());
    node.journal().write(freeze.work());
    long begin = node.nanoTime().getAsLong();
    try {
      return forwardAndOn(control, begin);
    } catch (RuntimeException fault) {
      // An exception of ours must not leave a workload frozen. The undos read the actual state, so
      // they are valid at any time.
      LOG.log(System.Logger.Level.ERROR, "checkpoint " + freeze.work().id(), fault);
      return rolledBack(new StepFailure(Reason.INTERNAL, String.valueOf(fault), fault), begin);
    } finally {
      // What it has begun is discarded with the rest.
      freeze.storeCalls().last("archives of " + freeze.work().id(), freeze.layerPacker()::close);
    }
  }

  private CheckpointOutcome forwardAndOn(OperationControl control, long started)
      throws InterruptedException {
    long begin = started;
    try {
      if (freeze.request().store() != null) {
        new PackAhead(freeze, runner).run(control, inspected.layerBytes());
      }
      startKeeper();
      begin = node.nanoTime().getAsLong();
      control.freezes();
      freeze.note(work -> work.withSince(node.clock().instant()));
      runner.forward(steps, freeze, control);
      if (freeze.request().store() != null) {
        control.checkStillMeant();
        new PendingTermination(freeze).check();
        // That of a migration is deleted when the migration is rolled back.
        captured = !freeze.request().options().heldUntilDecided();
      }
      control.check(freeze.request().after() == After.RESUME ? "resume" : "publish");
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    } catch (StepFailure failure) {
      return rolledBack(failure, begin);
    } catch (InterruptedException stopped) {
      return rolledBack(new StepFailure(Reason.CANCELLED, "the agent is stopping", stopped), begin);
    }
    return switch (freeze.request().after()) {
      case RESUME -> resumed(begin);
      case SUSPEND -> suspended(begin);
      case EVICT -> held(begin);
    };
  }

  /** Before the freeze: its context takes up to a second, and pinned host memory some more. */
  private void startKeeper() throws StepFailure, InterruptedException {
    if (freeze.dataPath() instanceof DataPath.Direct direct) {
      try {
        Set<GpuUuid> gpus = new TreeSet<>();
        for (ProcessId process : direct.processes()) {
          gpus.addAll(freeze.deviceBytes(process).keySet());
        }
        node.keepers().prepare(freeze.work().containerId(), gpus);
        new RoomAhead(freeze).make(direct);
      } catch (KeeperFailure e) {
        if (direct.only()) {
          throw new StepFailure(Reason.REGION_MOVE, String.valueOf(e.getMessage()), e);
        }
        freeze.offloading().leaveToDriver(String.valueOf(e.getMessage()));
      }
    }
  }

  private CheckpointOutcome resumed(long begin) throws InterruptedException {
    SourceState source = thaw(begin);
    if (source.kind() == SourceState.Kind.FROZEN) {
      // Publication delays the next attempt, and the driver may have failed only once.
      source = thaw(begin);
    }
    return switch (source.kind()) {
      case RUNNING, GONE -> published(source);
      case FROZEN, UNKNOWN ->
          kept(failed("resume", Reason.DRIVER_ERROR, source.detail(), source), source);
    };
  }

  /** The workload runs, or has ended since: then its artifact is the only copy. */
  private CheckpointOutcome published(SourceState source) throws InterruptedException {
    freeze.note(work -> work.withPhase(Work.Phase.PUBLISHING));
    node.ledger().giveBack(freeze.work().containerId()); // Publication may take minutes.
    freeze.listener().publishing();
    try {
      captured = false;
      ArtifactStage.SealedArtifact sealed =
          source.kind() == SourceState.Kind.RUNNING
              ? publication.ofRunning(freeze.listener())
              : publication.ofEnded(freeze.listener());
      forget();
      return new CheckpointOutcome.Published(sealed, figures());
    } catch (IOException e) {
      return over(failed("publish", Reason.STORE_FAILED, String.valueOf(e.getMessage()), source));
    }
  }

  /**
   * Publishes the artifact of a checkpoint that has failed: the workload has ended or may never run
   * again, and a later attempt to thaw it may be what ends it. Without progress, which would report
   * that it runs.
   */
  private CheckpointOutcome.Failed kept(CheckpointOutcome.Failed failed, SourceState source)
      throws InterruptedException {
    try {
      ArtifactStage.SealedArtifact sealed = publishFrozen(StepListener.NONE);
      return new CheckpointOutcome.Failed(
          failed.step(), failed.reason(), failed.message(), source, figures(), sealed);
    } catch (IOException e) {
      String message =
          "%s; its artifact %s: %s"
              .formatted(
                  failed.message(),
                  e instanceof FailedSyncException ? "is lost" : "is not published yet",
                  e.getMessage());
      return failed(failed.step(), failed.reason(), message, source);
    }
  }

  private CheckpointOutcome suspended(long begin) throws InterruptedException {
    if (freeze.request().store() == null) {
      freeze.note(work -> work.withPhase(Work.Phase.SUSPENDED));
      return new CheckpointOutcome.Suspended(
          gpuBytes(), figures(), freeze.work().containerId(), null);
    }
    // With a store: the tree resumes in host memory, only its GPU state stays checkpointed.
    int stop = steps.stream().map(Step::name).toList().indexOf(StopStep.NAME);
    try {
      new Children(freeze).end();
      runner.back(steps.subList(stop, steps.size()), freeze);
      freeze.note(work -> work.withPhase(Work.Phase.SUSPENDED));
      node.ledger().giveBack(freeze.work().containerId());
      ArtifactStage.SealedArtifact sealed = publishFrozen(freeze.listener());
      removeCopies();
      return new CheckpointOutcome.Suspended(
          gpuBytes(), figures(), freeze.work().containerId(), sealed);
    } catch (IOException e) {
      return rolledBack(
          new StepFailure(Reason.STORE_FAILED, String.valueOf(e.getMessage()), e), begin);
    } catch (StepFailure e) {
      return rolledBack(e, begin);
    }
  }

  /** The process and the artifact have them too, unless the direct path has moved memory there. */
  private void removeCopies() {
    if (!freeze.work().offloaded().isEmpty()) {
      return;
    }
    try {
      new StageFiles(freeze).remove();
    } catch (IOException | UncheckedIOException e) {
      // The resume removes the rest.
      LOG.log(System.Logger.Level.WARNING, "the stage of " + freeze.work().id(), e);
    }
  }

  private CheckpointOutcome held(long begin) throws InterruptedException {
    node.ledger().giveBack(freeze.work().containerId());
    try {
      ArtifactStage.SealedArtifact sealed = publishFrozen(freeze.listener());
      // Its artifact is published: an agent that stops just then must not thaw it because of that.
      boolean stops = Thread.interrupted();
      freeze.note(work -> work.withPhase(Work.Phase.HELD));
      if (stops) {
        Thread.currentThread().interrupt();
      }
      return new CheckpointOutcome.Held(sealed, figures(), freeze.work().containerId());
    } catch (IOException e) {
      return rolledBack(
          new StepFailure(Reason.STORE_FAILED, String.valueOf(e.getMessage()), e), begin);
    }
  }

  private CheckpointOutcome rolledBack(StepFailure failure, long begin)
      throws InterruptedException {
    freeze.listener().undoing(String.valueOf(failure.getMessage()));
    StepRunner.clearInterrupt();
    SourceState source = thaw(begin);
    CheckpointOutcome.Failed failed =
        failed(runner.lastStep(), failure.reason(), String.valueOf(failure.getMessage()), source);
    // Of a workload that has ended the artifact is the only copy.
    return over(
        captured && source.kind() != SourceState.Kind.RUNNING ? kept(failed, source) : failed);
  }

  /** Forgets a workload that needs neither a thaw nor a publication any more. */
  private CheckpointOutcome over(CheckpointOutcome.Failed failed) throws InterruptedException {
    SourceState.Kind left = failed.source().kind();
    if (left == SourceState.Kind.RUNNING || left == SourceState.Kind.GONE) {
      forget();
    }
    return failed;
  }

  private SourceState thaw(long begin) throws InterruptedException {
    freeze.endCopies();
    SourceState state = new ThawRun(freeze, runner, steps).run();
    for (ProcessId helper : freeze.work().children()) {
      if (!node.pids().awaitEnd(helper, Duration.ZERO)) {
        freeze.storeCalls().leave(() -> node.pids().awaitEnd(helper, HELPER));
      }
    }
    frozen = Duration.ofNanos(node.nanoTime().getAsLong() - begin);
    return state;
  }

  private ArtifactStage.SealedArtifact publishFrozen(StepListener listener) throws IOException {
    captured = false; // If the store fails, it is not tried a second time.
    return publication.ofFrozen(listener);
  }

  /** Nothing is in progress any more: first the stage, then the journal that named it. */
  private void forget() throws InterruptedException {
    try {
      node.keepers().rest(freeze.work().containerId());
      new StageFiles(freeze).remove();
      node.journal().remove(freeze.work().containerId());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "leftovers of " + freeze.work().id(), e);
    }
  }

  private CheckpointOutcome.Failed failed(
      String step, Reason reason, String message, SourceState source) {
    SourceState left = new InterruptedPublication(node).unlessOnlyCopy(freeze.work(), source);
    return new CheckpointOutcome.Failed(step, reason, message, left, figures(), null);
  }

  private long gpuBytes() {
    return freeze.cudaInFull().stream().mapToLong(CudaProcess::totalBytes).sum();
  }

  private CheckpointOutcome.Figures figures() {
    return new CheckpointOutcome.Figures(
        runner.timings(), frozen, freeze.pathTaken(), Math.max(gpuBytes(), inspected.gpuBytes()));
  }
}
