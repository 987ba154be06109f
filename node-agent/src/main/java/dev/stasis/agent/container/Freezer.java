package dev.stasis.agent.container;

import dev.stasis.agent.process.KernelEventFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Freezes a container's cgroup: all processes at once, including those being forked. A frozen
 * process responds to nothing, not even a debugger or the driver, so it is thawed again soon.
 */
public final class Freezer {

  /** cgroup v1 has no notification; most freezes finish within one or two of these intervals. */
  private static final long POLL_NANOS = 1_000_000;

  private static final Path V1_STATE = Path.of("freezer.state");
  private static final Path V2_FREEZE = Path.of("cgroup.freeze");
  private static final Path V2_EVENTS = Path.of("cgroup.events");

  private final Path folder;
  private final boolean unified;

  private Freezer(Path folder, boolean unified) {
    this.folder = folder;
    this.unified = unified;
  }

  /** Empty if no cgroup belongs to the container alone, or none of them can be frozen. */
  public static Optional<Freezer> of(Container container) {
    if (!container.ownsCgroups()) {
      return Optional.empty();
    }
    Optional<Freezer> separate =
        container.cgroups().stream()
            .filter(cgroup -> Files.exists(cgroup.folder().resolve(V1_STATE)))
            .findFirst()
            .map(cgroup -> new Freezer(cgroup.folder(), false));
    return separate.isPresent() ? separate : unified(container);
  }

  static Optional<Freezer> unified(Container container) {
    return container.cgroups().stream()
        .filter(cgroup -> Files.exists(cgroup.folder().resolve(V2_FREEZE)))
        .findFirst()
        .map(cgroup -> new Freezer(cgroup.folder(), true));
  }

  /** Returns whether the cgroup, or one above it, is frozen or being frozen. */
  public boolean isFrozen() {
    return unified
        ? events().contains("frozen 1") || !"0".equals(text(V2_FREEZE))
        : !"THAWED".equals(text(V1_STATE));
  }

  /**
   * Freezes.
   *
   * @return false if not every process was frozen in that time; it is then thawed again
   */
  public boolean freeze(Duration atMost) {
    if (set(true, atMost)) {
      return true;
    }
    write(false);
    return false;
  }

  /**
   * Thaws.
   *
   * @return false if it was still frozen after that time: a parent is frozen, or it was frozen
   *     again
   */
  public boolean thaw(Duration atMost) {
    return set(false, atMost);
  }

  private boolean set(boolean frozen, Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    if (!unified) {
      return setSeparate(frozen, until);
    }
    try (KernelEventFile events = new KernelEventFile(folder.resolve(V2_EVENTS))) {
      write(frozen);
      while (!events.read().contains(frozen ? "frozen 1" : "frozen 0")) {
        long left = until - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        events.awaitChange(Duration.ofNanos(left));
      }
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean setSeparate(boolean frozen, long until) {
    write(frozen);
    while (!text(V1_STATE).equals(frozen ? "FROZEN" : "THAWED")) {
      if (System.nanoTime() > until) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
      if (frozen) {
        // Writing again also freezes processes that were just being forked.
        write(true);
      }
    }
    return true;
  }

  private void write(boolean frozen) {
    String word = unified ? (frozen ? "1" : "0") : (frozen ? "FROZEN" : "THAWED");
    try {
      Files.writeString(folder.resolve(unified ? V2_FREEZE : V1_STATE), word);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String events() {
    return text(V2_EVENTS);
  }

  private String text(Path name) {
    try {
      return Files.readString(folder.resolve(name)).trim();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
