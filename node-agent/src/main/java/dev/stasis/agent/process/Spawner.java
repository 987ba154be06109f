package dev.stasis.agent.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Starts programs by a {@link SpawnConnection}, which is started before this program opens a file
 * of a store.
 *
 * <p>A process that Java starts inherits the descriptors of this program, and closes them before it
 * runs its program. Closing a file that is open for writing on NFS waits for the server in the
 * kernel. While the server is gone, this program could not start any other, and the thaw of a
 * workload may need one.
 */
final class Spawner {

  /** The helper answers in milliseconds; this allows for a busy machine. */
  private static final Duration HELPER_LIMIT = Duration.ofSeconds(10);

  private @Nullable Path runtime;
  private @Nullable SpawnConnection helper;

  /** Starts the helper, unless there is one. */
  synchronized void use(Path program) {
    if (runtime != null || !Files.isExecutable(program)) {
      return;
    }
    try {
      helper = started(program);
      runtime = program;
    } catch (IOException e) {
      System.getLogger(Spawner.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "Programs cannot be started while a store does not respond",
              e);
    }
  }

  /** Returns whether there is a helper. */
  synchronized boolean isReady() {
    return runtime != null;
  }

  /** Replaces a helper that has ended, which may fail while a store does not respond. */
  private synchronized SpawnConnection helper() throws IOException {
    SpawnConnection now = helper;
    if (now == null || !now.isAlive()) {
      if (runtime == null) {
        throw new IllegalStateException("no helper was started");
      }
      now = started(runtime);
      helper = now;
    }
    return now;
  }

  private static SpawnConnection started(Path program) throws IOException {
    CompletableFuture<SpawnConnection> starting = new CompletableFuture<>();
    new DaemonThreads("spawn-helper-start")
        .newThread(
            () -> {
              try {
                SpawnConnection begun = new SpawnConnection(program);
                if (!starting.complete(begun)) {
                  begun.end();
                }
              } catch (IOException e) {
                starting.completeExceptionally(e);
              }
            })
        .start();
    long until = System.nanoTime() + HELPER_LIMIT.toNanos();
    try {
      SpawnConnection begun = await(starting, until);
      try {
        return await(begun.ready(), until);
      } catch (IOException | TimeoutException e) {
        begun.end();
        throw e;
      }
    } catch (TimeoutException e) {
      starting.completeExceptionally(e);
      throw new IOException(
          "%s spawn: expected an answer within %d s, got none"
              .formatted(program, HELPER_LIMIT.toSeconds()));
    }
  }

  /**
   * Starts a program.
   *
   * @throws IOException if it cannot be started, or not within that time; it does not run later
   */
  Process start(ProcessBuilder program, Duration atMost) throws IOException {
    long until = System.nanoTime() + atMost.toNanos();
    String name = program.command().get(0);
    try (ChildStreams streams = new ChildStreams(program)) {
      try {
        return start(helper().begin(program, streams), streams, name, until);
      } catch (TimeoutException e) {
        streams.discard();
        throw new IOException(
            "cannot start %s: expected it to run within %d s; does its disk respond?"
                .formatted(name, atMost.toSeconds()),
            e);
      } catch (IOException e) {
        streams.discard();
        throw e;
      }
    }
  }

  private static Process start(
      SpawnConnection.Start start, ChildStreams streams, String name, long until)
      throws IOException, TimeoutException {
    int pid;
    try {
      pid = await(start.waiting(), until);
    } catch (TimeoutException e) {
      // It waits for a word that it never gets.
      var unused = start.waiting().thenAccept(late -> new SpawnedProcess(late).destroyForcibly());
      throw e;
    }
    SpawnedProcess process = new SpawnedProcess(pid, streams);
    int error;
    try {
      start.go();
      error = await(start.error(), until);
    } catch (IOException | TimeoutException e) {
      // Even if the kernel holds it up now, it runs nothing after this signal.
      process.destroyForcibly();
      throw e;
    }
    if (error != 0) {
      throw new IOException("cannot start %s: %s".formatted(name, LibC.INSTANCE.strerror(error)));
    }
    return process;
  }

  /** An interrupt does not end the wait: the program may run by then. */
  private static <T> T await(CompletableFuture<T> future, long until)
      throws IOException, TimeoutException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return future.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          Throwable cause = Objects.requireNonNull(e.getCause());
          throw new IOException(String.valueOf(cause.getMessage()), cause);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
