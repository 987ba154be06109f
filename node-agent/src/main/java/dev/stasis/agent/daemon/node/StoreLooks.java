package dev.stasis.agent.daemon.node;

import dev.stasis.agent.daemon.sweep.ArtifactSweep;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.node.RemoteUsage;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.artifact.Manifest;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Observes the stores from this node. A store may be on a file system of an unreachable server:
 * reading it then never returns, and must not block anything else.
 */
final class StoreLooks implements AutoCloseable {

  /** A local disk answers immediately, a share with many artifacts within seconds. */
  private static final Duration QUICK = Duration.ofSeconds(10);

  /** Until then the last observation is used. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private static final String DEVICE = "unix:dev";

  private final Clock clock;
  private final Path kubelet;
  private final RemoteProbe probe;
  private final StoreInMemory memory;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(new DaemonThreads("store-looks"));
  private @Nullable Future<List<NodeStore>> pending;
  private Instant begun = Instant.EPOCH;
  private List<NodeStore> seen = List.of();

  /**
   * The observations of one agent.
   *
   * @param kubelet the kubelet's folder on this node
   * @param probe tries out the remote part of a store
   * @param memory finds stores that the agent cannot fill
   */
  StoreLooks(Clock clock, Path kubelet, RemoteProbe probe, StoreInMemory memory) {
    this.clock = clock;
    this.probe = probe;
    this.memory = memory;
    this.kubelet = kubelet;
  }

  /**
   * Returns the content of the remote part of a store, if this node measured it last. Fails with
   * the reason why this node cannot use it.
   */
  interface RemoteProbe {
    @Nullable RemoteUsage require(GpuCheckpointStore store) throws IOException;

    /** Returns the identity of the volume of a store's claim on this node; null without a claim. */
    default @Nullable String volumeId(GpuCheckpointStore store) throws IOException {
      return null;
    }
  }

  /** Observes each store; a missing one is reported and does not affect the others. */
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
      throw new IllegalStateException("cannot check the stores", e.getCause());
    } catch (TimeoutException e) {
      if (begun.plus(STUCK).isBefore(clock.instant())) {
        seen = stores.stream().map(StoreLooks::stuck).toList();
      }
    }
    return seen;
  }

  private List<NodeStore> all(Collection<GpuCheckpointStore> stores) {
    return stores.stream()
        .sorted(Comparator.comparing(store -> store.getMetadata().getName()))
        .map(this::look)
        .toList();
  }

  private static NodeStore stuck(GpuCheckpointStore store) {
    return unreachable(
        store.getMetadata().getName(),
        "expected a check of the stores within "
            + STUCK.toSeconds()
            + " s, got none: the check hangs");
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  private NodeStore look(GpuCheckpointStore store) {
    String volume;
    try {
      volume = probe.volumeId(store);
    } catch (IOException | RuntimeException e) {
      return unreachable(store.getMetadata().getName(), reason(e));
    }
    return state(store).withVolumeId(volume);
  }

  private NodeStore state(GpuCheckpointStore store) {
    String name = store.getMetadata().getName();
    GpuCheckpointStoreSpec spec = store.getSpec();
    try {
      Path root = Path.of(spec.folder(name));
      if (!spec.sharesFolder()) {
        Files.createDirectories(
            root,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } else if (!Files.isDirectory(root)) {
        // Created here it would be on the node's own disk, and it would not be visible that it is
        // not shared.
        return unreachable(name, root + ": expected a folder, got none");
      }
      return folder(name, root, spec.uploads() ? probe.require(store) : null);
    } catch (IOException | RuntimeException e) {
      return unreachable(name, reason(e));
    }
  }

  private static String reason(Exception e) {
    return e instanceof StoreException store
        ? store.reason() + ": " + store.getMessage()
        : e.toString().replaceFirst("^(?:[a-z]+\\.)+", "");
  }

  private NodeStore folder(String name, Path root, @Nullable RemoteUsage remote)
      throws IOException {
    Optional<String> inMemory = memory.obstacle(root);
    if (inMemory.isPresent()) {
      return unreachable(
          name, "expected %s, got: %s".formatted(StoreInMemory.expected(), inMemory.get()));
    }
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
        new HumanBytes(free).text(),
        used,
        artifacts.size(),
        Files.exists(kubelet)
            ? Files.getAttribute(root, DEVICE).equals(Files.getAttribute(kubelet, DEVICE))
            : null,
        remote,
        null);
  }

  /** The size of a folder; a file that disappears meanwhile has none. */
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

  /** The artifacts below the root of a store: {@code NAMESPACE/NAME-UID}, each with a manifest. */
  record StoreFolders(Path root) {

    /** Only published artifacts: one that is being written has no manifest at its path. */
    List<Path> artifacts() throws IOException {
      List<Path> found = new ArrayList<>();
      for (Path namespace : ArtifactSweep.folders(root)) {
        for (Path artifact : ArtifactSweep.folders(namespace)) {
          if (Files.isRegularFile(
              artifact.resolve(Manifest.FILE_NAME), LinkOption.NOFOLLOW_LINKS)) {
            found.add(artifact);
          }
        }
      }
      return found;
    }
  }
}
