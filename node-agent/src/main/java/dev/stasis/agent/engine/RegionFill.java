package dev.stasis.agent.engine;

import dev.stasis.agent.mover.JournalReading;
import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.MoveOutcome;
import dev.stasis.agent.mover.RegionJournal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Fills every region whose only copy is in a stage back into its process, according to the
 * journals.
 */
final class RegionFill {

  private final FrozenWork frozen;
  private final Move.Verify verify;

  /**
   * @param verify the digest that each chunk must have
   */
  RegionFill(FrozenWork frozen, Move.Verify verify) {
    this.frozen = frozen;
    this.verify = verify;
  }

  /** The file beside a journal with the regions that are not device memory. */
  static Path hostRegions(Path journal) {
    return journal.resolveSibling(journal.getFileName() + ".host");
  }

  /** Returns whether a process that still exists lacks memory, or may lack some. */
  boolean anythingAbsent() {
    return frozen.work().regionJournals().stream()
        .map(name -> frozen.node().journals().read(Path.of(name)))
        .anyMatch(
            reading ->
                !reading.whole()
                    && !(reading instanceof JournalReading.Read read
                        && !frozen.alive(read.journal().process())));
  }

  /** Fills everything that is absent, checking each chunk's digest. The tree must be stopped. */
  void fillAll() throws StepFailure, InterruptedException {
    new StageRelocation(frozen.work()).follow();
    List<RegionJournal> absent = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    for (String name : frozen.work().regionJournals()) {
      JournalReading reading = frozen.node().journals().read(Path.of(name));
      if (reading instanceof JournalReading.Read read) {
        if (!reading.whole() && frozen.alive(read.journal().process())) {
          absent.add(read.journal());
          files.add(Path.of(name));
        }
      } else if (!reading.whole()) {
        throw new StepFailure(Reason.REGION_MOVE, reading.describe());
      }
    }
    long total = absent.stream().mapToLong(RegionJournal::absentBytes).sum();
    AtomicLong done = new AtomicLong();
    long threads = frozen.node().threads();
    frozen
        .node()
        .parallel()
        .forEach(
            absent,
            journal -> {
              long[] last = {0};
              Path file = files.get(absent.indexOf(journal));
              Path host = hostRegions(file);
              MoveOutcome outcome =
                  frozen
                      .node()
                      .mover()
                      .run(
                          new Move.In(
                              journal.process(),
                              file,
                              (int)
                                  Math.max(1, threads * journal.absentBytes() / Math.max(1, total)),
                              verify,
                              false,
                              Files.exists(host) ? host : null),
                          MoveStep.deadline(journal.absentBytes()),
                          frozen::noteChild,
                          bytes -> {
                            frozen
                                .listener()
                                .progress("fill", done.addAndGet(bytes - last[0]), total);
                            last[0] = bytes;
                          });
              if (outcome instanceof MoveOutcome.Failed failed) {
                throw new StepFailure(
                    reason(failed.cause()),
                    "fill of process %s: %s".formatted(journal.process(), failed.message()));
              }
            });
  }

  /** A chunk of an artifact, or of the stage of a freeze. */
  private Reason reason(MoveOutcome.Cause cause) {
    return cause == MoveOutcome.Cause.DAMAGED && verify == Move.Verify.SHA256
        ? Reason.ARTIFACT_REFUSED
        : Reason.REGION_MOVE;
  }
}
