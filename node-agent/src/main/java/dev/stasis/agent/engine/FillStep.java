package dev.stasis.agent.engine;

import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RecordFile;
import dev.stasis.artifact.ChunkTable;
import dev.stasis.artifact.RegionSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Fills the regions of each restored process from the artifact before any thread runs. The digest
 * of each chunk is checked in the same read, and a chunk that differs ends the restore.
 *
 * <p>Has no undo: filled memory ends with its process.
 */
final class FillStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "fill";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    List<String> journals = new ArrayList<>();
    for (RegionSet set : restoring.artifact().manifest().regions()) {
      ProcessId process = restoring.byOwnPid().get(set.ownPid());
      if (process == null) {
        throw new StepFailure(
            Reason.ARTIFACT_REFUSED,
            "regions: expected those of a process of the tree, got those of pid " + set.ownPid());
      }
      if (!new TreeStopper(restoring.node().proc()).isStopped(process)) {
        throw new StepFailure(
            Reason.CRIU_FAILED,
            "process %s: expected it to be stopped after criu's restore, got a running one"
                .formatted(process));
      }
      journals.add(begin(restoring, set, process).toString());
    }
    restoring.note(work -> work.withRegions(journals, null));
    new RegionFill(restoring, Move.Verify.SHA256).fillAll();
    requireWhole(restoring, journals);
    // The processes have taken it.
    restoring.node().ledger().giveBack(restoring.target().id());
  }

  /** A fill leaves out a process that has ended. In a restore every process must get its memory. */
  private static void requireWhole(Restoring restoring, List<String> journals) throws StepFailure {
    for (String journal : journals) {
      JournalReading reading = restoring.node().journals().read(Path.of(journal));
      if (!reading.whole()) {
        throw new StepFailure(Reason.NOT_PROVEN, "fill: " + reading.describe());
      }
    }
  }

  /** A journal in which every chunk is absent; created whole by rename. */
  private static Path begin(Restoring restoring, RegionSet set, ProcessId process)
      throws StepFailure {
    Path journal =
        restoring
            .node()
            .journal()
            .folderOf(restoring.work().containerId())
            .resolve(RegionJournal.fileName(process));
    try {
      ChunkTable table = restoring.artifact().chunks(set);
      List<String> lines = new ArrayList<>();
      lines.add(
          "stasis-regions 1 boot=%s pid=%d start=%d stage=%s"
              .formatted(
                  restoring.node().proc().bootId(),
                  process.pid(),
                  process.startTime(),
                  restoring.artifact().data(set).toAbsolutePath()));
      table
          .text()
          .lines()
          .filter(line -> line.startsWith("R ") || line.startsWith("C "))
          .forEach(lines::add);
      lines.add("D 0 " + table.chunks().size());
      RegionPlan.write(
          RegionFill.hostRegions(journal), Objects.requireNonNullElse(set.host(), List.of()));
      new RecordFile(journal).write(String.join("\n", lines) + "\n");
      return journal;
    } catch (IOException e) {
      throw new StepFailure(Reason.ARTIFACT_REFUSED, "regions: " + e.getMessage(), e);
    }
  }
}
