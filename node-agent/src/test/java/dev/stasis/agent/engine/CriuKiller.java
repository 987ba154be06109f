package dev.stasis.agent.engine;

import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Kills the criu of a restore so long after it is first seen. The journal names the program that
 * enters the target; criu is a child of that one, and comes a moment later.
 */
final class CriuKiller implements AutoCloseable {

  /** Criu takes some 50 ms for its work, and reads its images first. */
  private static final Duration POLL = Duration.ofMillis(1);

  private final EngineLab lab;
  private final GpuContainer target;
  private final AtomicBoolean over = new AtomicBoolean();
  private final CompletableFuture<Boolean> hit;

  CriuKiller(EngineLab lab, GpuContainer target, Duration after) {
    this.lab = lab;
    this.target = target;
    this.hit = CompletableFuture.supplyAsync(() -> kill(after));
  }

  private boolean kill(Duration after) {
    while (!over.get()) {
      Optional<ProcessHandle> criu = criu();
      if (criu.isPresent()) {
        LockSupport.parkNanos(after.toNanos());
        return criu.get().isAlive() && criu.get().destroyForcibly();
      }
      LockSupport.parkNanos(POLL.toNanos());
    }
    return false;
  }

  private Optional<ProcessHandle> criu() {
    return lab.parts().journal().read(target.id()).stream()
        .flatMap(work -> work.children().stream())
        .flatMap(child -> ProcessHandle.of(child.pid()).stream())
        .flatMap(entering -> entering.children())
        .filter(child -> isCriu(child.pid()))
        .findFirst();
  }

  private static boolean isCriu(long pid) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/comm")).trim().equals("criu");
    } catch (IOException e) {
      return false; // It has ended.
    }
  }

  /** Whether criu was alive when it was killed; to be asked when the restore is over. */
  boolean wasHit() {
    over.set(true);
    return hit.join();
  }

  @Override
  public void close() {
    wasHit();
  }
}
