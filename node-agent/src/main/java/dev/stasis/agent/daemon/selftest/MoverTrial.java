package dev.stasis.agent.daemon.selftest;

import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.MoveOutcome;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Moves the memory of a child out and back in, as for a workload, and has the child check it. */
final class MoverTrial {

  /**
   * Twice this size is charged to the agent for a moment; a larger one would only measure better.
   */
  private static final int MIB = 64;

  /** Usually a tenth of a second; a memory stage on a disk takes seconds. */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private static final long LOOK_NANOS = 1_000_000;

  private static final long PIECE = 16L << 20;

  private final Path runtime;
  private final ProcFs proc;
  private final int threads;
  private final LongSupplier nanoTime;

  MoverTrial(Path runtime, ProcFs proc, int threads, LongSupplier nanoTime) {
    this.runtime = runtime;
    this.proc = proc;
    this.threads = threads;
    this.nanoTime = nanoTime;
  }

  /** Bytes per second, out and in. */
  record Speeds(long out, long in) {}

  /**
   * Runs the test.
   *
   * @param folder for stage and journal; the caller deletes its content
   * @throws IOException if the test fails, with one sentence
   */
  Speeds run(Path folder) throws IOException, InterruptedException {
    Process child =
        new ChildStart()
            .start(
                new ProcessBuilder(runtime.toString(), "sample", "--mib", Integer.toString(MIB))
                    .redirectError(ProcessBuilder.Redirect.DISCARD));
    try (BufferedReader lines = child.inputReader(StandardCharsets.US_ASCII);
        OutputStream questions = child.getOutputStream()) {
      String[] region = String.valueOf(lines.readLine()).split(" ");
      if (region.length != 3 || !region[0].equals("region")) {
        throw new IOException("expected a child with memory, got " + String.join(" ", region));
      }
      Speeds speeds = move(child, region, folder);
      questions.write('?');
      questions.flush();
      String found = String.valueOf(lines.readLine());
      if (!found.equals("good")) {
        throw new IOException("expected every byte to be restored, got " + found);
      }
      return speeds;
    } finally {
      child.destroyForcibly().waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private Speeds move(Process child, String[] region, Path folder)
      throws IOException, InterruptedException {
    ProcessId id =
        proc.id((int) child.pid())
            .orElseThrow(() -> new IOException("the child process has ended"));
    Path regions = folder.resolve("regions");
    Path journal = folder.resolve("journal");
    Files.writeString(regions, region[1] + " " + region[2] + "\n");
    Optional<PidFd> held = new PidFds(proc).open(id);
    try (PidFd hold = held.orElseThrow(() -> new IOException("the child process has ended"))) {
      hold.send(Signal.STOP);
      awaitStop(id);
      try {
        long out =
            timed(
                new Move.Out(
                    id,
                    regions,
                    folder.resolve("stage"),
                    journal,
                    threads,
                    PIECE,
                    true,
                    Move.Verify.CRC32C));
        long in = timed(new Move.In(id, journal, threads, Move.Verify.CRC32C, false, null));
        return new Speeds(out, in);
      } finally {
        hold.send(Signal.CONT);
      }
    }
  }

  /** A stop becomes visible in /proc a moment after the signal, without an event. */
  private void awaitStop(ProcessId id) throws IOException, InterruptedException {
    long until = nanoTime.getAsLong() + DEADLINE.toNanos();
    while (proc.stat(id).filter(stat -> !stat.isStopped()).isPresent()) {
      if (nanoTime.getAsLong() > until) {
        throw new IOException("expected the child process to be stopped, got a running one");
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for a child to stop");
      }
    }
  }

  private long timed(Move move) throws IOException, InterruptedException {
    long begun = nanoTime.getAsLong();
    MoveOutcome outcome = new Mover(runtime).run(move, DEADLINE, started -> {}, bytes -> {});
    if (outcome instanceof MoveOutcome.Failed failed) {
      throw new IOException(failed.message());
    }
    long nanos = Math.max(1, nanoTime.getAsLong() - begun);
    return (long) ((double) ((long) MIB << 20) * TimeUnit.SECONDS.toNanos(1) / nanos);
  }
}
