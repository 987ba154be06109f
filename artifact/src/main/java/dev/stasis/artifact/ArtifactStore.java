package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A folder of artifacts. Unfinished artifacts are in staging folders beside them, with names that
 * no artifact can have.
 */
public final class ArtifactStore {
  static final String STAGING_PREFIX = ".staging-";

  /**
   * Files that describe an artifact need space too; 16 MiB hold the tables of 500 GB of regions.
   */
  private static final long OVERHEAD = 16L << 20;

  private final Path folder;
  private final Clock clock;
  private final StoreFiles files;
  private final SecureRandom random = new SecureRandom();

  /** Opens a store in an existing folder. */
  public ArtifactStore(Path folder, Clock clock) {
    this(folder, clock, new LinuxStoreFiles());
  }

  ArtifactStore(Path folder, Clock clock, StoreFiles files) {
    this.folder = folder.toAbsolutePath().normalize();
    this.clock = clock;
    this.files = files;
  }

  /** Returns the path of the artifact with that name, whether it exists or not. */
  public Path path(String name) {
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,127}")) {
      throw new IllegalArgumentException(
          "artifact name: expected 1 to 128 letters, digits, '.', '_' or '-', the first a letter or"
              + " digit, got \""
              + name
              + "\"");
    }
    return folder.resolve(name);
  }

  /**
   * Starts an artifact.
   *
   * @throws IOException if the name exists already, or the store is not writable
   */
  public ArtifactStage stage(String name) throws IOException {
    Path target = path(name);
    refuseExisting(target);
    byte[] suffix = new byte[6];
    random.nextBytes(suffix);
    Path staging = folder.resolve(STAGING_PREFIX + name + "-" + HexFormat.of().formatHex(suffix));
    Path owner = ownerOf(staging);
    // The owner file first: to another agent, a staging folder without one would look abandoned.
    files.write(owner, StagingOwner.current().bytes());
    try {
      files.createFolder(staging);
      ArtifactStage stage = new ArtifactStage(staging, owner, target, files);
      stage.createFolders();
      return stage;
    } catch (IOException e) {
      deleteQuietly(e, staging, owner);
      throw e;
    }
  }

  /**
   * Continues an artifact whose writer has ended, and deletes what it had begun to write since.
   *
   * @param staging its staging folder
   * @param name its name
   * @param sizes the files that its writer had staged ({@link ArtifactStage#sizes})
   * @throws IOException if one of them is missing or has another size, or the name is in use
   */
  public ArtifactStage reopen(Path staging, String name, Map<String, Long> sizes)
      throws IOException {
    Path target = path(name);
    refuseExisting(target);
    requireStaging(staging);
    ArtifactStage stage = new ArtifactStage(staging, ownerOf(staging), target, files);
    stage.reduceTo(sizes);
    return stage;
  }

  /** Returns whether an artifact of that size currently fits. */
  public StoreRoom room(long bytes) throws IOException {
    return new StoreRoom(bytes + OVERHEAD, Files.getFileStore(folder).getUsableSpace());
  }

  /**
   * Returns what writers left behind: staging folders of processes that are gone, and those without
   * a known owner that were not changed for {@code untouched}. Folders of other nodes are kept,
   * because a frozen workload there may depend on them.
   *
   * @param shared whether other nodes write to this store
   */
  public List<Path> leftovers(Duration untouched, boolean shared) throws IOException {
    StagingOwner here = StagingOwner.current();
    TreeSet<Path> stagings = new TreeSet<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, STAGING_PREFIX + "*")) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        boolean owner = name.endsWith(StagingOwner.SUFFIX);
        stagings.add(
            owner
                ? folder.resolve(name.substring(0, name.length() - StagingOwner.SUFFIX.length()))
                : entry);
      }
    }
    List<Path> leftovers = new ArrayList<>();
    for (Path staging : stagings) {
      if (abandoned(staging, here, untouched, shared)) {
        leftovers.add(staging);
      }
    }
    return leftovers;
  }

  /**
   * Makes a published artifact durable.
   *
   * @throws IOException if it no longer exists, or the disk fails
   */
  public void sync(String name) throws IOException {
    Path target = path(name);
    for (Path file : FolderScan.of(target).files()) {
      files.sync(file);
    }
    files.syncFolders(target);
    files.sync(folder);
  }

  /**
   * Deletes an artifact, its name first: an interrupted deletion never leaves a partial artifact
   * with a name.
   *
   * @throws IOException if it does not exist, or cannot be deleted
   */
  public void delete(String name) throws IOException {
    Path target = path(name);
    byte[] suffix = new byte[6];
    random.nextBytes(suffix);
    Path staging = folder.resolve(STAGING_PREFIX + name + "-" + HexFormat.of().formatHex(suffix));
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new NoSuchFileException(target.toString());
    }
    // With an owner file, so that the remainder of a killed deletion is found immediately.
    files.write(ownerOf(staging), StagingOwner.current().bytes());
    try {
      files.rename(target, staging);
    } catch (IOException e) {
      deleteQuietly(e, ownerOf(staging));
      throw e;
    }
    files.sync(folder);
    try {
      files.delete(staging);
    } catch (IOException e) {
      // A file that is being read stays on NFS. Without its owner, a later sweep deletes the rest.
      deleteQuietly(e, ownerOf(staging));
      throw e;
    }
    files.delete(ownerOf(staging));
  }

  /** Deletes a result of {@link #leftovers}. */
  public void sweep(List<Path> leftovers) throws IOException {
    for (Path staging : leftovers) {
      requireStaging(staging);
      files.delete(staging);
      files.delete(ownerOf(staging));
    }
  }

  private void requireStaging(Path staging) {
    if (!folder.equals(staging.getParent())
        || !staging.getFileName().toString().startsWith(STAGING_PREFIX)) {
      throw new IllegalArgumentException(
          "leftover: expected a staging folder of %s, got %s".formatted(folder, staging));
    }
  }

  static void refuseExisting(Path target) throws IOException {
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "artifact %s: expected an unused name, got one that is in use".formatted(target));
    }
  }

  private boolean abandoned(Path staging, StagingOwner here, Duration untouched, boolean shared)
      throws IOException {
    Optional<StagingOwner> owner = StagingOwner.read(ownerOf(staging));
    StagingOwner.Life life = owner.isPresent() ? owner.get().life(here) : StagingOwner.Life.UNKNOWN;
    return switch (life) {
      case ALIVE -> false;
      case GONE -> true;
      case UNKNOWN -> {
        if (shared && owner.isPresent()) {
          yield false;
        }
        Path witness =
            Files.exists(staging, LinkOption.NOFOLLOW_LINKS) ? staging : ownerOf(staging);
        yield Files.exists(witness, LinkOption.NOFOLLOW_LINKS)
            && newest(witness).plus(untouched).isBefore(clock.instant());
      }
    };
  }

  /** Returns the time of the last change to any file of a folder. */
  private static Instant newest(Path folder) throws IOException {
    Instant newest = Instant.EPOCH;
    for (Path path : FolderScan.everything(folder)) {
      Instant modified = Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toInstant();
      newest = modified.isAfter(newest) ? modified : newest;
    }
    return newest;
  }

  private void deleteQuietly(IOException cause, Path... paths) {
    for (Path path : paths) {
      try {
        files.delete(path);
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }

  private static Path ownerOf(Path staging) {
    return staging.resolveSibling(staging.getFileName() + StagingOwner.SUFFIX);
  }
}
