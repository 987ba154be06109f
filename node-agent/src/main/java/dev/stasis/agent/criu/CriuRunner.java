package dev.stasis.agent.criu;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.HelperCgroups;
import dev.stasis.agent.process.LogTail;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs criu. Its output goes into files, never into one of our pipes, so that it finishes even if
 * the agent dies.
 */
public final class CriuRunner {

  private static final System.Logger LOG = System.getLogger(CriuRunner.class.getName());

  /** A dump lets the tree go immediately on SIGTERM; the limit is for a machine that swaps. */
  private static final Duration AFTER_TERM = Duration.ofSeconds(10);

  /**
   * KILL takes effect immediately unless criu waits for a disk in the kernel. The undo checks
   * whether it still holds threads.
   */
  private static final Duration AFTER_KILL = Duration.ofSeconds(10);

  /** Users do not need progress more often than twice a second. */
  private static final Duration BETWEEN_REPORTS = Duration.ofMillis(500);

  /** An error of stasis-runtime itself, before criu started. */
  private static final int NOT_ENTERED = 125;

  /** Receives criu's progress. */
  @FunctionalInterface
  public interface Progress {
    /**
     * @param bytes memory pages written so far (dump)
     */
    void written(long bytes);
  }

  private final Consumer<ProcessHandle> started;
  private final Duration afterTerm;

  /** Creates a runner that does not report its children. */
  public CriuRunner() {
    this(child -> {});
  }

  /**
   * Creates a runner.
   *
   * @param started called with each child once it runs; the child outlives the agent, so it must be
   *     recorded
   */
  public CriuRunner(Consumer<ProcessHandle> started) {
    this(started, AFTER_TERM);
  }

  CriuRunner(Consumer<ProcessHandle> started, Duration afterTerm) {
    this.started = started;
    this.afterTerm = afterTerm;
  }

  public CriuOutcome dump(DumpPlan plan, Duration atMost, Progress progress)
      throws IOException, InterruptedException {
    return run(
        plan.command(new HelperCgroups().enterOptions()),
        plan.images(),
        plan.work(),
        "dump",
        atMost,
        progress);
  }

  public CriuOutcome restore(RestorePlan plan, Duration atMost)
      throws IOException, InterruptedException {
    Files.createDirectories(plan.work());
    return run(plan.command(), plan.images(), plan.work(), "restore", atMost, bytes -> {});
  }

  /**
   * The deadline of a run. 100 MB/s is a slow network disk; criu itself reaches 2 to 4 GB/s. The
   * two minutes are for everything independent of the size, on a busy node.
   */
  public Duration allowance(long bytes) {
    return Duration.ofMinutes(2).plusSeconds(bytes / 100_000_000);
  }

  private CriuOutcome run(
      List<String> command, Path images, Path work, String what, Duration atMost, Progress progress)
      throws IOException, InterruptedException {
    Files.createDirectories(work);
    Path ownErrors = work.resolve(what + ".err");
    long begin = System.nanoTime();
    Process process =
        new ChildStart()
            .start(
                new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(ownErrors.toFile())
                    .redirectError(ProcessBuilder.Redirect.appendTo(ownErrors.toFile())));
    started.accept(process.toHandle());
    Thread reports = new Thread(() -> report(process, images, progress), "criu-progress");
    reports.setDaemon(true);
    reports.start();
    try {
      if (!process.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
        return new CriuOutcome.TimedOut(atMost, end(process));
      }
    } catch (InterruptedException e) {
      end(process);
      throw e;
    } finally {
      reports.interrupt();
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    int code = process.exitValue();
    if (code == 0) {
      return new CriuOutcome.Succeeded(took);
    }
    if (code > 128) {
      return new CriuOutcome.Killed(code - 128);
    }
    return failed(code, CriuLog.read(work.resolve(what + ".log")), said(ownErrors, work));
  }

  /** The last line of stasis-runtime, then that of criu before it opened its log. */
  private static List<String> said(Path ownErrors, Path work) throws IOException {
    List<String> lines = new ArrayList<>(new LogTail(ownErrors).last(1));
    lines.addAll(new LogTail(work.resolve("criu.out")).last(1));
    return lines;
  }

  private static CriuOutcome failed(int code, CriuLog log, List<String> lines) {
    if (code == NOT_ENTERED || !log.hasErrors()) {
      String line = lines.isEmpty() ? "exit code " + code : lines.get(lines.size() - 1);
      return new CriuOutcome.Failed(new CriuFault(CriuFault.Kind.NOT_STARTED, "", line));
    }
    return new CriuOutcome.Failed(log.fault());
  }

  /** In a thread of its own, because the folder may be on a disk that does not respond. */
  private static void report(Process process, Path images, Progress progress) {
    try {
      // Returns immediately when the process ends.
      while (!process.waitFor(BETWEEN_REPORTS.toNanos(), TimeUnit.NANOSECONDS)) {
        long bytes = pages(images);
        if (Thread.interrupted()) {
          return;
        }
        progress.written(bytes);
      }
    } catch (InterruptedException e) {
      LOG.log(System.Logger.Level.TRACE, "criu is not waited for any more", e);
    }
  }

  /** SIGTERM, wait, SIGKILL. Returns true if SIGKILL was needed. */
  private boolean end(Process process) throws InterruptedException {
    // Listed first: once the outermost process is dead, the others have lost their parent.
    List<ProcessHandle> below = process.descendants().toList();
    process.destroy();
    if (process.waitFor(afterTerm.toMillis(), TimeUnit.MILLISECONDS)) {
      return false;
    }
    below.forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    var unused = process.waitFor(AFTER_KILL.toMillis(), TimeUnit.MILLISECONDS);
    return true;
  }

  private static long pages(Path images) {
    long bytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(images, "pages-*.img")) {
      for (Path file : files) {
        bytes += size(file);
      }
    } catch (IOException e) {
      // A failed progress report must not disturb the run.
      return bytes;
    }
    return bytes;
  }

  private static long size(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
