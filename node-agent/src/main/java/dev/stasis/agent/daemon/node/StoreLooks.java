package dev.stasis.agent.daemon.node;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.node.NodeStore;
import dev.stasis.api.v1alpha1.store.GpuCheckpointStoreSpec;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The stores as this node sees them. A store may lie on a file system whose server is gone: then a
 * look at it never ends, and must not hold up anything else.
 */
final class StoreLooks implements AutoCloseable {

  /** A local disk answers at once, a share with many artifacts in seconds. */
  private static final Duration QUICK = Duration.ofSeconds(10);

  /** Until then what was seen last is believed. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private final Clock clock;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread made = new Thread(task, "store-looks");
            made.setDaemon(true);
            return made;
          });
  private @Nullable Future<List<NodeStore>> pending;
  private Instant begun = Instant.EPOCH;
  private List<NodeStore> seen = List.of();

  StoreLooks(Clock clock) {
    this.clock = clock;
  }

  /** Looks at each of them; one that is not there says so and harms no other. */
  synchronized List<NodeStore> look(Collection<GpuCheckpointStore> stores)
      throws InterruptedException {
    Future<List<NodeStore>> look = pending;
    if (look == null) {
      look = thread.submit(() -> all(stores));
      pending = look;
      begun = clock.instant();
    }
    try {
      seen = look.get(QUICK.toMillis(), TimeUnit.MILLISECONDS);
      pending = null;
    } catch (ExecutionException e) {
      pending = null;
      throw new IllegalStateException("a look at the stores failed", e.getCause());
    } catch (TimeoutException e) {
      if (begun.plus(STUCK).isBefore(clock.instant())) {
        seen = stores.stream().map(StoreLooks::stuck).toList();
      }
    }
    return seen;
  }

  private static List<NodeStore> all(Collection<GpuCheckpointStore> stores) {
    return stores.stream()
        .sorted(Comparator.comparing(store -> store.getMetadata().getName()))
        .map(StoreLooks::look)
        .toList();
  }

  private static NodeStore stuck(GpuCheckpointStore store) {
    return unreachable(
        store.getMetadata().getName(),
        "wanted a look at the stores within " + STUCK.toSeconds() + " s, found that one hangs");
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  private static NodeStore look(GpuCheckpointStore store) {
    String name = store.getMetadata().getName();
    GpuCheckpointStoreSpec spec = store.getSpec();
    try {
      if (spec.getNodeLocal() != null) {
        Path root = Path.of(spec.getNodeLocal().path());
        Files.createDirectories(
            root,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        return folder(name, root);
      }
      if (spec.getSharedPath() != null) {
        Path root = Path.of(spec.getSharedPath().path());
        // Made here it would lie on the node's own disk, and nobody would see that it is not
        // shared.
        return Files.isDirectory(root)
            ? folder(name, root)
            : unreachable(name, root + ": wanted a folder, found none");
      }
      return unreachable(name, "s3: wanted a folder of the node, found a bucket");
    } catch (IOException | RuntimeException e) {
      return unreachable(name, e.toString().replaceFirst("^(?:[a-z]+\\.)+", ""));
    }
  }

  private static NodeStore folder(String name, Path root) throws IOException {
    Files.delete(Files.createTempFile(root, ".stasis-look-", ".tmp"));
    FileStore disk = Files.getFileStore(root);
    long used = 0;
    List<Path> artifacts = new StoreFolders(root).artifacts();
    for (Path artifact : artifacts) {
      used += bytes(artifact);
    }
    long free = disk.getUsableSpace();
    return new NodeStore(
        name,
        true,
        null,
        disk.getTotalSpace(),
        free,
        new Amount(free).text(),
        used,
        artifacts.size());
  }

  /** What a folder takes; a file that goes meanwhile takes nothing. */
  private static long bytes(Path folder) throws IOException {
    long[] bytes = {0};
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes facts) {
            bytes[0] += facts.isRegularFile() ? facts.size() : 0;
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            return unlessGone(e);
          }

          @Override
          public FileVisitResult postVisitDirectory(Path left, @Nullable IOException e)
              throws IOException {
            return e == null ? FileVisitResult.CONTINUE : unlessGone(e);
          }
        });
    return bytes[0];
  }

  private static FileVisitResult unlessGone(IOException e) throws IOException {
    if (e instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE;
    }
    throw e;
  }

  private static NodeStore unreachable(String name, String why) {
    return new NodeStore(name, false, why, null, null, null, null, null);
  }
}
