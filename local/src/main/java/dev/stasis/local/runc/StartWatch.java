package dev.stasis.local.runc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Waits until a container has its pid, or runc has failed. */
final class StartWatch {

  /** Usually a tenth of a second; this allows for a loaded machine. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Bundle bundle;

  StartWatch(Bundle bundle) {
    this.bundle = bundle;
  }

  RunningContainer await(ContainerConfig config, Process runc) throws IOException {
    try (WatchService watch = bundle.folder().getFileSystem().newWatchService()) {
      bundle.folder().register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      // The end of runc creates a file too, so that one watch detects whichever comes first.
      CompletableFuture<Integer> exit = runc.onExit().thenApply(ended -> noted(ended.exitValue()));
      long until = System.nanoTime() + LIMIT.toNanos();
      while (!hasPid() && !Files.exists(bundle.exitFile())) {
        WatchKey key = watch.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (key == null) {
          runc.destroyForcibly();
          throw new IOException("runc: expected a container within " + LIMIT + ", got none");
        }
        key.reset();
      }
      if (!hasPid()) {
        throw new IOException("runc: " + words());
      }
      int pid = Integer.parseInt(Files.readString(bundle.pidFile()).strip());
      return new RunningContainer(config, bundle, pid, exit);
    } catch (InterruptedException e) {
      runc.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while starting " + config.id(), e);
    }
  }

  /**
   * runc writes the file under another name and renames it, so that it always contains a whole
   * number.
   */
  private boolean hasPid() {
    return Files.exists(bundle.pidFile());
  }

  private int noted(int code) {
    try {
      Files.writeString(bundle.exitFile(), Integer.toString(code));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return code;
  }

  private String words() throws IOException {
    Path log = bundle.runcLog();
    return Files.exists(log) ? Files.readString(log).strip() : "exited without a message";
  }
}
