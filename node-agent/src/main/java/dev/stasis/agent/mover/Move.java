package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One run of {@code stasis-runtime move}, as its command line. */
public sealed interface Move {

  /** Whose memory. */
  ProcessId target();

  /** The region journal. */
  Path journal();

  /** Copying threads. */
  int threads();

  /** The arguments behind {@code stasis-runtime}. */
  List<String> arguments();

  /**
   * Regions out of the process into a stage, dropped behind the copy.
   *
   * @param regions a file that lists the regions
   * @param stage the file that takes the bytes
   * @param pieceBytes how much is copied before it is dropped
   * @param digest which digest the journal has of each chunk; SHA-256 comes beside CRC32C
   */
  record Out(
      ProcessId target,
      Path regions,
      Path stage,
      Path journal,
      int threads,
      long pieceBytes,
      Verify digest)
      implements Move {

    @Override
    public List<String> arguments() {
      List<String> all = head("out", this);
      all.addAll(List.of("--regions", regions.toString(), "--stage", stage.toString()));
      all.addAll(List.of("--piece", Long.toString(pieceBytes)));
      all.addAll(List.of("--digest", digest.word));
      return all;
    }
  }

  /**
   * Regions back into the process, each chunk checked before it is written.
   *
   * @param verify which digest is checked
   * @param punch whether the stage is given back behind the fill
   */
  record In(ProcessId target, Path journal, int threads, Verify verify, boolean punch)
      implements Move {

    @Override
    public List<String> arguments() {
      List<String> all = head("in", this);
      all.addAll(List.of("--verify", verify.word));
      // Fewer faults for us, and for the driver that reads it: measured in docs/benchmarks.md. The
      // driver gives the range back with its Restore, so the program never sees the difference.
      all.add("--huge");
      if (punch) {
        all.add("--punch");
      }
      return all;
    }
  }

  /** The digest that a copy takes and a fill checks. */
  enum Verify {
    /** Against our own faults, within one freeze. */
    CRC32C("crc32c"),
    /** Against anything that happened to an artifact. */
    SHA256("sha256");

    private final String word;

    Verify(String word) {
      this.word = word;
    }
  }

  private static List<String> head(String direction, Move move) {
    return new ArrayList<>(
        List.of(
            "move",
            direction,
            "--pid",
            Integer.toString(move.target().pid()),
            "--start",
            Long.toString(move.target().startTime()),
            "--journal",
            move.journal().toString(),
            "--threads",
            Integer.toString(move.threads())));
  }
}
