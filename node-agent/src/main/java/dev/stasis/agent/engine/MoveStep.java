package dev.stasis.agent.engine;

import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.mover.JournalTailer;
import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.MoveOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Copies the device regions and other large memory of each process into the stage, so that criu
 * handles only the small remainder. The process keeps the memory, so the undo does nothing. In
 * low-memory mode, and only there, the memory is dropped after the copy: from the first dropped
 * piece on the stage holds the only copy, which the journal records.
 */
final class MoveStep implements Step<Freeze, FrozenWork> {

  /**
   * A piece is dropped once it is copied: small enough to limit the doubled memory, large enough
   * for few injections.
   */
  static final long PIECE_BYTES = 256L << 20;

  /**
   * Copies run at gigabytes per second; a slow disk still reaches 50 MB/s. A longer time means a
   * failure.
   */
  private static final long SLOWEST_BYTES_PER_SECOND = 50_000_000;

  /** A copy shares the disk with criu and the keeper. */
  private static final int WRITERS = 3;

  private static final Duration LEAST = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "move";
  }

  @Override
  public String undoName() {
    return "fill";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    List<RegionPlan> plans = freeze.planRegions();
    if (plans.isEmpty()) {
      return;
    }
    List<String> journals = plans.stream().map(plan -> plan.journal().toString()).toList();
    freeze.note(work -> work.withRegions(journals, freeze.stage().folder().toString()));
    if (freeze.stage().lowMemory() != null) {
      copy(freeze, plans);
      return;
    }
    TreeStopper stopper = new TreeStopper(freeze.node().proc());
    for (RegionPlan plan : plans) {
      if (!stopper.isStopped(plan.process())) {
        throw new StepFailure(
            Reason.REGION_MOVE,
            "process %s: expected it to be stopped, got a running one".formatted(plan.process()));
      }
    }
    freeze.copyBeside(() -> copy(freeze, plans));
  }

  private void copy(Freeze freeze, List<RegionPlan> plans)
      throws StepFailure, InterruptedException {
    long total = plans.stream().mapToLong(RegionPlan::bytes).sum();
    AtomicLong done = new AtomicLong();
    int threads = freeze.request().options().threads();
    long begun = freeze.node().nanoTime().getAsLong();
    freeze
        .node()
        .parallel()
        .forEach(
            plans,
            plan -> {
              writeRegions(plan);
              long[] last = {0};
              JournalTailer follower = new JournalTailer(plan.journal());
              MoveOutcome outcome =
                  freeze
                      .node()
                      .mover()
                      .run(
                          new Move.Out(
                              plan.process(),
                              plan.regionsFile(),
                              plan.stage(),
                              plan.journal(),
                              (int) Math.max(1, threads * plan.bytes() / total),
                              PIECE_BYTES,
                              freeze.stage().lowMemory() != null,
                              digest(freeze)),
                          deadline(WRITERS * plan.bytes()),
                          freeze::noteChild,
                          bytes -> {
                            freeze
                                .listener()
                                .progress(name(), done.addAndGet(bytes - last[0]), total);
                            last[0] = bytes;
                            follow(freeze, plan, follower);
                          });
              if (outcome instanceof MoveOutcome.Failed failed) {
                throw new StepFailure(
                    failed.cause() == MoveOutcome.Cause.NO_ROOM
                        ? Reason.NO_ROOM
                        : Reason.REGION_MOVE,
                    "regions of process %s: %s".formatted(plan.process(), failed.message()));
              }
              follow(freeze, plan, follower);
            });
    long nanos = freeze.node().nanoTime().getAsLong() - begun;
    freeze.node().rates().note(CopyRates.Copy.MOVE_OUT, total, nanos);
  }

  /** Data in the artifact's own folder is final. */
  private static void follow(Freeze freeze, RegionPlan plan, JournalTailer follower) {
    if (!plan.stage().startsWith(freeze.artifact().regionFolder())) {
      return;
    }
    try {
      freeze.stages().grew(plan.stage(), follower.finalBytes());
    } catch (IOException e) {
      // The listener gets it with the whole artifact.
      System.getLogger(MoveStep.class.getName())
          .log(System.Logger.Level.DEBUG, "the journal of a move", e);
    }
  }

  /**
   * The artifact needs a SHA-256 of every chunk. During the copy it costs almost nothing; a
   * workload that resumes before its artifact is written does not need it now.
   */
  private static Move.Verify digest(Freeze freeze) {
    return freeze.request().after() == After.EVICT ? Move.Verify.SHA256 : Move.Verify.CRC32C;
  }

  private static void writeRegions(RegionPlan plan) throws StepFailure {
    try {
      RegionPlan.write(plan.regionsFile(), plan.regions());
    } catch (IOException e) {
      throw new StepFailure(
          Reason.REGION_MOVE, "cannot write " + plan.regionsFile() + ": " + e.getMessage(), e);
    }
  }

  static Duration deadline(long bytes) {
    return LEAST.plusSeconds(bytes / SLOWEST_BYTES_PER_SECOND);
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
    RegionFill fill = new RegionFill(frozen, Move.Verify.CRC32C);
    if (fill.anythingAbsent()) {
      // The process that killed criu or the mover may have continued the tree; nothing may run
      // while its memory is restored.
      new StopAgain(frozen).stop();
      fill.fillAll();
    }
  }
}
