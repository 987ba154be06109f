package dev.stasis.agent.engine;

import dev.stasis.agent.mover.JournalFollower;
import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.MoveOutcome;
import dev.stasis.agent.mover.RegionChoice;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Moves the device regions of each process into the stage and drops them there, so that criu has
 * only the small rest. From the first dropped piece on the stage holds the only copy; the journal
 * says which.
 */
final class MoveStep implements Step<Freeze, FrozenWork> {

  /**
   * A piece is dropped once it is copied: small enough to keep the double memory small, big enough
   * for few injections.
   */
  static final long PIECE_BYTES = 256L << 20;

  /**
   * Copies run at gigabytes a second; a slow disk still makes 50 MB/s. Beyond that something is
   * wrong.
   */
  private static final long SLOWEST_BYTES_PER_SECOND = 50_000_000;

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
    List<RegionPlan> plans = new ArrayList<>();
    for (CudaProcess process : freeze.work().cuda()) {
      RegionChoice choice = freeze.chooseRegions(process);
      if (choice instanceof RegionChoice.Movable movable) {
        plans.add(freeze.planMove(process, movable.regions()));
      }
    }
    if (plans.isEmpty()) {
      return;
    }
    List<String> journals = plans.stream().map(plan -> plan.journal().toString()).toList();
    freeze.note(work -> work.withRegions(journals, freeze.stageFolder().toString()));
    long total = plans.stream().mapToLong(RegionPlan::bytes).sum();
    AtomicLong done = new AtomicLong();
    int threads = Math.max(1, freeze.request().options().threads() / plans.size());
    freeze
        .node()
        .parallel()
        .forEach(
            plans,
            plan -> {
              writeRegions(plan);
              long[] last = {0};
              JournalFollower follower = new JournalFollower(plan.journal());
              MoveOutcome outcome =
                  freeze
                      .node()
                      .mover()
                      .run(
                          new Move.Out(
                              plan.process().process(),
                              plan.regionsFile(),
                              plan.stage(),
                              plan.journal(),
                              threads,
                              PIECE_BYTES,
                              digest(freeze)),
                          freeze.chargedCgroups(),
                          deadline(plan.bytes()),
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
                    "regions of process %s: %s"
                        .formatted(plan.process().process(), failed.message()));
              }
              follow(freeze, plan, follower);
            });
  }

  /** What lies in the artifact's own folder by now will not change there. */
  private static void follow(Freeze freeze, RegionPlan plan, JournalFollower follower) {
    if (!plan.stage().startsWith(freeze.artifact().regionFolder())) {
      return;
    }
    try {
      freeze.stages().grew(plan.stage(), follower.finalBytes());
    } catch (IOException e) {
      // Whoever listens gets it with the whole artifact.
      System.getLogger(MoveStep.class.getName())
          .log(System.Logger.Level.DEBUG, "the journal of a move", e);
    }
  }

  /**
   * The artifact wants SHA-256 of every chunk. While the bytes go by, that costs the copy nearly
   * nothing; a workload that goes on before its artifact is written has no use for it now.
   */
  private static Move.Verify digest(Freeze freeze) {
    return freeze.request().after() == After.EVICT ? Move.Verify.SHA256 : Move.Verify.CRC32C;
  }

  private static void writeRegions(RegionPlan plan) throws StepFailure {
    StringBuilder lines = new StringBuilder();
    for (Region region : plan.regions()) {
      lines
          .append(Long.toHexString(region.address()))
          .append(' ')
          .append(region.length())
          .append('\n');
    }
    try {
      Files.writeString(plan.regionsFile(), lines);
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
    RegionFill fill = new RegionFill(frozen);
    if (fill.anythingAbsent()) {
      // Who killed criu or the mover may have let the tree go; nothing may run while its memory
      // comes back.
      new StopAgain(frozen).stop();
      fill.fillAll(Move.Verify.CRC32C, false);
    }
  }
}
