package dev.stasis.agent.daemon.sweep;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Keeps the copies that this node has of a remote store's artifacts within their space: the least
 * recently used ones are deleted first. What is only here stays.
 */
final class LocalCopies {

  private static final System.Logger LOG = System.getLogger(LocalCopies.class.getName());

  /** A tenth of the disk, half of what is kept free by default. */
  private static final int PART = 10;

  /** As in the operator: a checkpoint that leaves less than a fifth of the disk is refused. */
  private static final int FREE_PART = 5;

  /** Between a download and the status that says who uses the copy. */
  private static final Duration IN_USE = Duration.ofMinutes(10);

  private final Predicate<Path> needed;
  private final Clock clock;

  /**
   * @param needed returns whether an operation on this node needs the artifact
   */
  LocalCopies(Predicate<Path> needed, Clock clock) {
    this.needed = needed;
    this.clock = clock;
  }

  /** A copy; the time of its folder is that of its last use. */
  private record Copy(Path artifact, ArtifactSweep.Owner owner, long bytes, Instant used) {}

  /** Size and free space of the disk of a folder. */
  record Disk(long totalBytes, long freeBytes) {

    /** Returns the file system of a folder. */
    static Disk of(Path folder) throws IOException {
      FileStore store = Files.getFileStore(folder);
      return new Disk(store.getTotalSpace(), store.getUsableSpace());
    }
  }

  /**
   * Deletes copies until the others fit.
   *
   * @param root the folder of the store on this node
   * @param objects returns the GpuCheckpoints of some namespaces; not called if all copies fit
   * @return the deleted copies
   */
  List<Path> prune(
      GpuCheckpointStore store,
      Path root,
      Disk disk,
      Function<Set<String>, List<GpuCheckpoint>> objects)
      throws IOException {
    List<Copy> copies = copies(root);
    long bytes = copies.stream().mapToLong(Copy::bytes).sum();
    Long own = store.getSpec().getOptions().localCopiesBytes();
    long most = own == null ? disk.totalBytes() / PART : own;
    Long minFree = store.getSpec().getOptions().minFreeBytes();
    long free = disk.freeBytes();
    long wanted = minFree == null ? disk.totalBytes() / FREE_PART : minFree;
    if (copies.isEmpty() || (bytes <= most && free >= wanted)) {
      return List.of();
    }
    Set<String> elsewhere =
        objects
            .apply(copies.stream().map(it -> it.owner().namespace()).collect(Collectors.toSet()))
            .stream()
            .filter(checkpoint -> isDispensable(checkpoint, store.getMetadata().getName()))
            .map(LocalCopies::owner)
            .collect(Collectors.toSet());
    List<Path> deleted = new ArrayList<>();
    for (Copy copy : copies) {
      if (bytes <= most && free >= wanted) {
        break;
      }
      if (elsewhere.contains(copy.owner().uid())
          && copy.used().plus(IN_USE).isBefore(clock.instant())
          && !needed.test(copy.artifact())) {
        delete(copy);
        deleted.add(copy.artifact());
        bytes -= copy.bytes();
        free += copy.bytes();
      }
    }
    return deleted;
  }

  /** The least recently used first. */
  private static List<Copy> copies(Path root) throws IOException {
    List<Copy> copies = new ArrayList<>();
    for (Map.Entry<Path, ArtifactSweep.Owner> each : ArtifactSweep.artifacts(root).entrySet()) {
      Path artifact = each.getKey();
      copies.add(
          new Copy(
              artifact,
              each.getValue(),
              bytes(artifact),
              Files.getLastModifiedTime(artifact).toInstant()));
    }
    copies.sort(Comparator.comparing(Copy::used));
    return copies;
  }

  private static long bytes(Path artifact) throws IOException {
    try (var files = Files.walk(artifact)) {
      return files.mapToLong(file -> file.toFile().isFile() ? file.toFile().length() : 0).sum();
    }
  }

  /** An imported artifact keeps the UID of the object for which it was made. */
  private static String owner(GpuCheckpoint checkpoint) {
    ArtifactStatus artifact = Objects.requireNonNull(checkpoint.getStatus().getArtifact());
    return Objects.requireNonNullElse(artifact.getUid(), checkpoint.getMetadata().getUid());
  }

  /** Whether every node can restore it without this copy, and nothing uses it now. */
  private static boolean isDispensable(GpuCheckpoint checkpoint, String store) {
    return isStored(checkpoint, store)
        && Objects.requireNonNullElse(checkpoint.getStatus().getInUseBy(), List.of()).isEmpty();
  }

  /** Returns whether its artifact is in that remote store, as far as is known without damage. */
  static boolean isStored(GpuCheckpoint checkpoint, String store) {
    ArtifactStatus artifact =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getArtifact();
    return artifact != null
        && store.equals(artifact.getStore())
        && artifact.getDurability() != null
        && artifact.getNode() == null
        && Objects.requireNonNullElse(
                checkpoint.getStatus().getConditions(),
                List.<dev.stasis.api.v1beta1.common.Condition>of())
            .stream()
            // The copy may repair the one in the store.
            .noneMatch(condition -> condition.reason().equals("ArtifactDamaged"));
  }

  private void delete(Copy copy) throws IOException {
    Path folder = Objects.requireNonNull(copy.artifact().getParent());
    new ArtifactStore(folder, clock).delete(copy.artifact().getFileName().toString());
    new SweepMark(copy.artifact()).remove();
    LOG.log(
        Level.INFO,
        "Copy of a stored artifact deleted: artifact={0} size={1} used={2}",
        copy.artifact(),
        new HumanBytes(copy.bytes()).text(),
        copy.used());
  }
}
