package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.DriverWorker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** An engine whose process dies at one moment of an operation. */
public final class MortalEngine {

  /** The exit code of a process that was killed, which no other end of a JVM has. */
  public static final int KILLED = 137;

  private final String moment;
  private final String step;

  /**
   * An engine that is to die.
   *
   * @param moment BEFORE, AFTER, BEFORE_UNDO of a step, or CAPTURED: once the capture is recorded
   */
  public MortalEngine(String moment, String step) {
    this.moment = moment;
    this.step = step;
  }

  public NodeEngine make(EngineSettings settings, DriverWorker worker, Clock clock)
      throws IOException {
    // The engine reads the clock between the record of the capture and the publication.
    LongSupplier nanoTime =
        () -> {
          if (moment.equals("CAPTURED") && isCaptured(settings.stateDir().resolve("work"))) {
            Runtime.getRuntime().halt(KILLED);
          }
          return System.nanoTime();
        };
    NodeParts node = new NodeEngine(settings, worker, clock, nanoTime).node();
    HookedStep.Hook hook =
        (now, name) -> {
          if (now.name().equals(moment) && name.equals(step)) {
            // As kill -KILL: no hook of the virtual machine runs, nothing is flushed.
            Runtime.getRuntime().halt(KILLED);
          }
        };
    return new NodeEngine(
        node, HookedStep.all(Checkpoint.steps(), hook), HookedStep.all(Restore.steps(), hook));
  }

  private static boolean isCaptured(Path works) {
    try (Stream<Path> files = Files.exists(works) ? Files.walk(works) : Stream.empty()) {
      return files.anyMatch(file -> file.endsWith("capture.json"));
    } catch (IOException | UncheckedIOException e) {
      return false; // A journal is being replaced.
    }
  }

  /** The names of a freeze's steps, in order. */
  public static java.util.List<String> freezing() {
    return Checkpoint.steps().stream().map(Step::name).toList();
  }

  /** The names of a restore's steps, in order. */
  public static java.util.List<String> restoring() {
    return Restore.steps().stream().map(Step::name).toList();
  }
}
