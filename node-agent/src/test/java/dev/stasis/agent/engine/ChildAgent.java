package dev.stasis.agent.engine;

import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** Starts {@link EngineChild} beside a lab: the same state folder, another process. */
final class ChildAgent implements AutoCloseable {

  /** A JVM starts in a second; an operation takes another. A busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(180);

  private final Process process;
  private final Path note;

  private ChildAgent(Process process, Path note) {
    this.process = process;
    this.note = note;
  }

  /** One that dies there, and is dead. */
  static void dying(EngineLab lab, String what, GpuContainer container, String moment, String step)
      throws IOException, InterruptedException {
    try (ChildAgent child = start(lab, what, container, moment, step, "die")) {
      if (!child.process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("an agent did not come to " + moment + " " + step);
      }
      if (!Files.exists(child.note)) {
        throw new AssertionError(
            "an agent ended before %s %s: %s"
                .formatted(moment, step, Files.readString(lab.folder().resolve("child.log"))));
      }
    }
  }

  /** One that stays there until it is closed. */
  static ChildAgent staying(
      EngineLab lab, String what, GpuContainer container, String moment, String step)
      throws IOException {
    ChildAgent child = start(lab, what, container, moment, step, "stay");
    Awaitility.await(moment + " " + step)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Files.exists(child.note));
    return child;
  }

  /** One that comes to its end unless it is killed. */
  static Process unharmed(EngineLab lab, String what, GpuContainer container) throws IOException {
    return start(lab, what, container, "NEVER", "none", "stay").process;
  }

  private static ChildAgent start(
      EngineLab lab, String what, GpuContainer container, String moment, String step, String how)
      throws IOException {
    Path note = lab.folder().resolve("reached");
    Files.deleteIfExists(note);
    Process process =
        new ChildJvm(EngineChild.class)
            .start(
                lab.folder().resolve("child.log"),
                lab.state().toString(),
                lab.memoryStage().toString(),
                lab.folder().toString(),
                lab.gpus().folder().toString(),
                what,
                container.id(),
                moment,
                step,
                how);
    return new ChildAgent(process, note);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
