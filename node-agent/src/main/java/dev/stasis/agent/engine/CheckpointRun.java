package dev.stasis.agent.engine;

import dev.stasis.agent.mover.JournalReading;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * One checkpoint on its way: forward, and then back by the same steps' undos, or only a part of the
 * way back.
 */
final class CheckpointRun {

  private static final System.Logger LOG = System.getLogger(CheckpointRun.class.getName());

  private final Freeze freeze;
  private final Inspected inspected;
  private final List<Step<Freeze, FrozenWork>> steps;
  private final NodeParts node;
  private final StepRunner runner;
  private Duration frozen = Duration.ZERO;

  CheckpointRun(Freeze freeze, Inspected inspected, List<Step<Freeze, FrozenWork>> steps) {
    this.freeze = freeze;
    this.inspected = inspected;
    this.steps = steps;
    this.node = freeze.node();
    this.runner = new StepRunner(node.nanoTime(), freeze.listener());
  }

  CheckpointOutcome run(OperationControl control) throws InterruptedException {
    node.journal().write(freeze.work());
    long begin = node.nanoTime().getAsLong();
    try {
      return forwardAndOn(control, begin);
    } catch (RuntimeException fault) {
      // A fault of ours must not leave a workload frozen; the undos look at the world, so they fit
      // any moment.
      LOG.log(System.Logger.Level.ERROR, "checkpoint " + freeze.work().id(), fault);
      return rolledBack(new StepFailure(Reason.INTERNAL, String.valueOf(fault), fault), begin);
    }
  }

  private CheckpointOutcome forwardAndOn(OperationControl control, long begin)
      throws InterruptedException {
    try {
      control.freezes();
      runner.forward(steps, freeze, control);
      if (freeze.request().store() != null) {
        control.checkStillMeant();
        new PendingEnd(freeze).check();
      }
      control.check(freeze.request().after() == After.RESUME ? "resume" : "publish");
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

  private CheckpointOutcome resumed(long begin) throws InterruptedException {
    SourceState source = thaw(begin);
    if (source.kind() != SourceState.Kind.RUNNING) {
      return failed("resume", Reason.DRIVER_ERROR, source.detail(), source);
    }
    freeze.note(work -> work.withPhase(Work.Phase.PUBLISHING));
    node.ledger().giveBack(freeze.work().containerId()); // Publishing may take minutes.
    try {
      ArtifactStage.SealedArtifact sealed = publish();
      forget();
      return new CheckpointOutcome.Published(sealed, figures());
    } catch (IOException e) {
      forget();
      return failed("publish", Reason.STORE_FAILED, String.valueOf(e.getMessage()), source);
    }
  }

  private CheckpointOutcome suspended(long begin) throws InterruptedException {
    if (freeze.request().store() == null) {
      freeze.note(work -> work.withPhase(Work.Phase.SUSPENDED));
      return new CheckpointOutcome.Suspended(
          gpuBytes(), figures(), freeze.work().containerId(), null);
    }
    // With a store: the tree goes on in host memory, only its GPU state stays put away.
    int stop = 2;
    try {
      new Children(freeze).end();
      runner.back(steps.subList(stop, steps.size()), freeze);
      freeze.note(work -> work.withPhase(Work.Phase.SUSPENDED));
      node.ledger().giveBack(freeze.work().containerId());
      ArtifactStage.SealedArtifact sealed = publish();
      return new CheckpointOutcome.Suspended(
          gpuBytes(), figures(), freeze.work().containerId(), sealed);
    } catch (IOException e) {
      return rolledBack(
          new StepFailure(Reason.STORE_FAILED, String.valueOf(e.getMessage()), e), begin);
    } catch (StepFailure e) {
      return rolledBack(e, begin);
    }
  }

  private CheckpointOutcome held(long begin) throws InterruptedException {
    node.ledger().giveBack(freeze.work().containerId());
    try {
      ArtifactStage.SealedArtifact sealed = publish();
      freeze.note(work -> work.withPhase(Work.Phase.HELD));
      return new CheckpointOutcome.Held(sealed, figures(), freeze.work().containerId());
    } catch (IOException e) {
      return rolledBack(
          new StepFailure(Reason.STORE_FAILED, String.valueOf(e.getMessage()), e), begin);
    }
  }

  private CheckpointOutcome rolledBack(StepFailure failure, long begin)
      throws InterruptedException {
    freeze.listener().undoing(String.valueOf(failure.getMessage()));
    SourceState source = thaw(begin);
    if (source.kind() == SourceState.Kind.RUNNING || source.kind() == SourceState.Kind.GONE) {
      forget();
    }
    return failed(
        runner.lastStep(), failure.reason(), String.valueOf(failure.getMessage()), source);
  }

  private SourceState thaw(long begin) throws InterruptedException {
    SourceState state = new ThawRun(freeze, runner, steps).run();
    frozen = Duration.ofNanos(node.nanoTime().getAsLong() - begin);
    return state;
  }

  private ArtifactStage.SealedArtifact publish() throws IOException {
    ArtifactStage artifact = freeze.artifact();
    int threads = freeze.request().options().threads();
    long begin = node.nanoTime().getAsLong();
    for (RegionPlan plan : freeze.plans()) {
      JournalReading reading = node.journals().read(plan.journal());
      if (!(reading instanceof JournalReading.Read read)) {
        throw new IOException(reading.describe());
      }
      artifact.addRegions(
          plan.ownPid(),
          plan.stage(),
          new JournalTable(read.journal()).table(),
          threads,
          (done, total) -> freeze.listener().progress("hash", done, total));
    }
    Manifest.DataPath path =
        new Manifest.DataPath(
            freeze.plans().isEmpty() ? Manifest.DataPath.Kind.CRIU : Manifest.DataPath.Kind.MOVER,
            freeze.pathTaken());
    Manifest draft = freeze.manifest(runner.timings().asMap(), path);
    ArtifactStage.SealedArtifact sealed =
        artifact.seal(
            draft,
            freeze.request().options().durability(),
            threads,
            (done, total) -> freeze.listener().progress("publish", done, total));
    runner.timings().add("publish", Duration.ofNanos(node.nanoTime().getAsLong() - begin));
    return sealed;
  }

  /** Nothing is in hand any more: the stage first, then the journal that named it. */
  private void forget() {
    try {
      new StageFiles(freeze).remove();
      node.journal().remove(freeze.work().containerId());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "leftovers of " + freeze.work().id(), e);
    }
  }

  private CheckpointOutcome failed(String step, Reason reason, String message, SourceState source) {
    return new CheckpointOutcome.Failed(step, reason, message, source, figures());
  }

  private long gpuBytes() {
    return freeze.work().cuda().stream().mapToLong(CudaProcess::totalBytes).sum();
  }

  private CheckpointOutcome.Figures figures() {
    return new CheckpointOutcome.Figures(
        runner.timings(), frozen, freeze.pathTaken(), Math.max(gpuBytes(), inspected.gpuBytes()));
  }
}
