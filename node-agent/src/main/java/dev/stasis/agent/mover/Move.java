package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The command line of one run of {@code stasis-runtime move}. */
public sealed interface Move {

  /** The process that owns the memory. */
  ProcessId target();

  Path journal();

  /** The number of copying threads. */
  int threads();

  /** The arguments after {@code stasis-runtime}. */
  List<String> arguments();

  /**
   * Copies regions of the process into a stage.
   *
   * @param regions a file that lists the regions
   * @param stage the file that receives the bytes
   * @param pieceBytes how much is copied before it is dropped
   * @param drops whether copied memory is dropped in the process, so that the stage holds the only
   *     copy
   * @param digest the digest of each chunk in the journal; SHA-256 is added to CRC32C
   */
  record Out(
      ProcessId target,
      Path regions,
      Path stage,
      Path journal,
      int threads,
      long pieceBytes,
      boolean drops,
      Verify digest)
      implements Move {

    @Override
    public List<String> arguments() {
      List<String> all = head("out", this);
      all.addAll(List.of("--regions", regions.toString(), "--stage", stage.toString()));
      all.addAll(List.of("--piece", Long.toString(pieceBytes)));
      all.addAll(List.of("--digest", digest.word));
      if (!drops) {
        all.add("--no-drop");
      }
      return all;
    }
  }

  /**
   * Fills regions of the process; each chunk is checked before it is written.
   *
   * @param verify the digest to check
   * @param punch whether space in the stage is freed after each fill
   * @param host a file with the regions that are not device memory; null if all are
   */
  record In(
      ProcessId target,
      Path journal,
      int threads,
      Verify verify,
      boolean punch,
      @Nullable Path host)
      implements Move {

    @Override
    public List<String> arguments() {
      List<String> all = head("in", this);
      all.addAll(List.of("--verify", verify.word));
      // Fewer page faults for the mover, and for the driver that reads the memory: measured in
      // docs/benchmarks.md. The driver frees the range during its Restore, so the program never
      // sees a difference. The program's own memory would keep the advice.
      all.add("--huge");
      if (host != null) {
        all.addAll(List.of("--not-huge", host.toString()));
      }
      if (punch) {
        all.add("--punch");
      }
      return all;
    }
  }

  /** The digest that a copy computes and a fill checks. */
  enum Verify {
    /** Detects our own faults within one freeze. */
    CRC32C("crc32c"),
    /** Detects any change of an artifact. */
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
