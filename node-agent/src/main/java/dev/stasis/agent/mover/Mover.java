package dev.stasis.agent.mover;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.HelperCgroups;
import dev.stasis.agent.process.LogTail;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Runs {@code stasis-runtime move} as a child outside the agent's container. Memory that it stages
 * is not charged to a pod, so a pod's limits neither prevent it nor end it. The child outlives this
 * process; the journal shows a successor what it did.
 */
public final class Mover {

  /** On TERM the mover finishes its piece and detaches from the process, in well under a second. */
  private static final Duration TERM_GRACE = Duration.ofSeconds(5);

  /**
   * KILL takes effect immediately unless the mover waits for a disk in the kernel; then it is left.
   */
  private static final Duration KILL_GRACE = Duration.ofSeconds(5);

  /**
   * A copy counts every 256 KiB, which a slow disk that three writers share takes in 15 ms. The
   * kernel holds a writer back for at most 200 ms at a time.
   */
  public static final Duration SILENCE = Duration.ofSeconds(60);

  /** An NFS client writes everything that it still has when the file is closed: at 50 MB/s. */
  private static final long CLOSE_NANOS_PER_BYTE = 20;

  private final Path runtime;
  private final Duration silence;

  public Mover(Path runtime) {
    this(runtime, SILENCE);
  }

  /**
   * The same with another limit.
   *
   * @param silence a copy out of a process that makes no progress for so long is ended: its disk
   *     does not respond
   */
  public Mover(Path runtime, Duration silence) {
    this.runtime = runtime;
    this.silence = silence;
  }

  /**
   * Runs a move to its end. If a key press ends it before it begins, it is started again.
   *
   * @param deadline the child is ended after this time
   * @param started called with the child once it runs, to record it
   * @param progress called with the bytes done
   */
  public MoveOutcome run(Move move, Duration deadline, ChildListener started, LongConsumer progress)
      throws InterruptedException {
    MoveOutcome outcome = once(move, deadline, started, progress);
    for (int tries = 1;
        tries < ChildStart.TRIES
            && outcome instanceof MoveOutcome.Failed failed
            && failed.cause() == MoveOutcome.Cause.NOT_BEGUN;
        tries++) {
      outcome = once(move, deadline, started, progress);
    }
    return outcome;
  }

  private MoveOutcome once(
      Move move, Duration deadline, ChildListener started, LongConsumer progress)
      throws InterruptedException {
    Path errors = move.journal().resolveSibling(move.journal().getFileName() + ".errors");
    Process child;
    try {
      child =
          new ChildStart()
              .start(
                  new ProcessBuilder(command(move))
                      .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                      .redirectError(ProcessBuilder.Redirect.to(errors.toFile())));
    } catch (IOException e) {
      return new MoveOutcome.Failed(
          MoveOutcome.Cause.OTHER, "cannot start the mover: " + e.getMessage());
    }
    started.started(child.toHandle());
    long[] moved = {0};
    AtomicLong lastProgress = new AtomicLong(System.nanoTime());
    Thread reader = new Thread(() -> read(child, moved, lastProgress, progress), "mover-progress");
    reader.setDaemon(true);
    reader.start();
    try {
      Duration quiet = move instanceof Move.Out ? silence : deadline;
      Optional<String> late = awaitEnd(child, deadline, quiet, lastProgress);
      if (late.isPresent()) {
        end(child);
        return new MoveOutcome.Failed(MoveOutcome.Cause.KILLED, late.get());
      }
    } catch (InterruptedException e) {
      end(child);
      throw e;
    }
    // The pipe closes when the child ends; the reader needs only what is already in it.
    reader.join(TERM_GRACE.toMillis());
    if (child.exitValue() == 0) {
      return new MoveOutcome.Moved(moved[0]);
    }
    return new MoveOutcome.Failed(
        MoveOutcome.Cause.ofExitCode(child.exitValue()), lastLine(errors, child.exitValue()));
  }

  /** Returns why the mover is not waited for any longer; empty if it has ended. */
  private static Optional<String> awaitEnd(
      Process child, Duration deadline, Duration quiet, AtomicLong lastProgress)
      throws InterruptedException {
    long until = System.nanoTime() + deadline.toNanos();
    while (true) {
      long silentAt = lastProgress.get() + quiet.toNanos();
      long left = Math.min(until, silentAt) - System.nanoTime();
      if (left > 0) {
        if (child.waitFor(left, TimeUnit.NANOSECONDS)) {
          return Optional.empty();
        }
      } else if (until <= silentAt) {
        return Optional.of("the mover was killed after " + deadline.toSeconds() + " s");
      } else {
        return Optional.of(
            "the mover was killed: expected progress within %d s, got none; does its disk respond?"
                .formatted(quiet.toSeconds()));
      }
    }
  }

  private List<String> command(Move move) {
    List<String> command = new HelperCgroups().command(runtime, runtime.toString());
    command.addAll(move.arguments());
    return command;
  }

  private static void read(
      Process child, long[] moved, AtomicLong lastProgress, LongConsumer progress) {
    try (BufferedReader lines = child.inputReader(StandardCharsets.US_ASCII)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        if (words.length >= 2 && (words[0].equals("progress") || words[0].equals("done"))) {
          long bytes = Long.parseLong(words[1]);
          if (bytes != moved[0]) {
            lastProgress.set(System.nanoTime());
          }
          if (words[0].equals("done")) {
            lastProgress.set(System.nanoTime() + CLOSE_NANOS_PER_BYTE * bytes);
          }
          moved[0] = bytes;
          progress.accept(moved[0]);
        }
      }
    } catch (IOException e) {
      // The pipe ends with the child; the exit code gives the result.
      progress.accept(moved[0]);
    }
  }

  /** The caller checks whether a mover that has not ended after that can still do any harm. */
  private static void end(Process child) throws InterruptedException {
    child.destroy();
    if (!child.waitFor(TERM_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
      var unused = child.destroyForcibly().waitFor(KILL_GRACE.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private static String lastLine(Path errors, int code) {
    try {
      List<String> lines = new LogTail(errors).last(1);
      if (!lines.isEmpty()) {
        return lines.get(0);
      }
    } catch (IOException e) {
      return "the mover exited with code "
          + code
          + "; its errors cannot be read: "
          + e.getMessage();
    }
    return "the mover exited with code " + code;
  }
}
