package dev.stasis.artifact;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * An artifact while it is being written: a private folder beside its later place. Nobody sees the
 * artifact before {@link #seal} has returned, whenever the machine stops. Not for several threads
 * at once.
 */
public final class ArtifactStage implements AutoCloseable {
  private final Path staging;
  private final Path owner;
  private final Path target;
  private final StoreFiles files;
  private final List<RegionSet> regions = new ArrayList<>();
  private boolean open = true;

  ArtifactStage(Path staging, Path owner, Path target, StoreFiles files) {
    this.staging = staging;
    this.owner = owner;
    this.target = target;
    this.files = files;
  }

  void createFolders() throws IOException {
    for (Path folder : List.of(criu(), layer(), regionFolder())) {
      files.createFolder(folder);
    }
  }

  /** The staging folder itself. */
  public Path folder() {
    return staging;
  }

  /** The folder for criu's images, and for nothing else. */
  public Path criu() {
    return staging.resolve("criu");
  }

  /** The folder for what the workload wrote: its layer, /dev/shm, emptyDirs. */
  public Path layer() {
    return staging.resolve("layer");
  }

  /** Where the mover stages a process's regions when it stages on this disk. */
  public Path regionData(int ownPid) {
    return regionFolder().resolve(ownPid + ".data");
  }

  /**
   * Takes in the regions of one process: checks each chunk against its CRC32C, gives it a SHA-256,
   * copies it here unless it lies in {@link #regionData} already, and writes the table. Chunks of
   * zeros stay holes.
   *
   * @param data the stage that holds the chunks
   * @param threads how many chunks are read at a time
   * @throws IOException when a chunk is not what it was, with its number; or the disk is full
   */
  public RegionSet addRegions(
      int ownPid, Path data, ChunkTable table, int threads, Progress progress) throws IOException {
    requireOpen();
    Path chunks = regionFolder().resolve(ownPid + ".chunks");
    ChunkTable hashed =
        new RegionCopy(data, regionData(ownPid), table).run(new Workers(threads), progress);
    files.write(chunks, hashed.text().getBytes(StandardCharsets.US_ASCII));
    RegionSet set =
        new RegionSet(
            ownPid,
            relative(regionData(ownPid)),
            Files.size(regionData(ownPid)),
            hashed.storedBytes(),
            relative(chunks),
            hashed.chunks().size(),
            hashed.regions());
    regions.add(set);
    return set;
  }

  /**
   * Makes the artifact: digests of every file, everything on the disk, the manifest last, then the
   * rename, and the manifest read back from where it now is. After a failure the stage is as before
   * and can be discarded.
   *
   * @param draft the manifest without files and regions, which are filled in here
   * @param threads how many files are read at a time
   */
  public SealedArtifact seal(Manifest draft, int threads, Progress progress) throws IOException {
    return seal(draft, Durability.BEFORE_IT_IS_NAMED, threads, progress);
  }

  /** As above, but everything is on the disk only when that is wanted. */
  public SealedArtifact seal(Manifest draft, Durability durability, int threads, Progress progress)
      throws IOException {
    requireOpen();
    FolderScan.of(staging).keepToRoot();
    Map<String, FileFacts> digests = digests(new Workers(threads), progress);
    Manifest manifest = draft.sealed(regions, digests);
    byte[] bytes = new ManifestCodec().bytes(manifest);
    if (bytes.length > ManifestCodec.MOST_BYTES) {
      throw new IOException(
          "%s: expected at most %d bytes, which a reader takes, got %d"
              .formatted(Manifest.FILE_NAME, ManifestCodec.MOST_BYTES, bytes.length));
    }
    String digest = Hasher.sha256(bytes);
    Path sum = staging.resolve(Manifest.DIGEST_FILE_NAME);
    files.write(
        sum, "%s  %s\n".formatted(digest, Manifest.FILE_NAME).getBytes(StandardCharsets.US_ASCII));
    Path manifestFile = staging.resolve(Manifest.FILE_NAME);
    boolean now = durability == Durability.BEFORE_IT_IS_NAMED;
    if (now) {
      for (Path file : FolderScan.of(staging).files()) {
        files.sync(file);
      }
    }
    files.write(manifestFile, bytes);
    if (now) {
      files.sync(manifestFile);
      files.syncFolders(staging);
    }
    publish();
    open = false;
    if (now) {
      files.sync(target.resolveSibling("."));
    }
    if (!Arrays.equals(bytes, Files.readAllBytes(target.resolve(Manifest.FILE_NAME)))) {
      throw new IOException(
          "artifact %s: wanted the manifest that was written, found another".formatted(target));
    }
    forgetOwner();
    return new SealedArtifact(target, manifest, digest);
  }

  /**
   * Makes the artifact of files that came whole from another node, by a way that checks every byte,
   * manifest included: it has its digest, and every file is there with its size and no other. What
   * is in them is checked by whoever opens the artifact, which comes next; nothing is synced, since
   * the other node has it still. After a failure the stage can be discarded.
   *
   * @param sha256 the digest that the artifact must have; null where it was not made yet when it
   *     was asked for, so that whoever uses it has to compare
   * @throws IOException when it is not that artifact, with what is wrong; or the disk fails
   */
  public SealedArtifact sealReceived(@Nullable String sha256) throws IOException {
    requireOpen();
    FolderScan.of(staging).keepToRoot();
    Opened opened = new ArtifactReader(1, Progress.NONE).whole(staging, sha256);
    if (opened instanceof Opened.Refused refused) {
      throw new IOException("artifact %s: %s".formatted(target, refused.message()));
    }
    Artifact artifact = ((Opened.Verified) opened).artifact();
    publish();
    open = false;
    forgetOwner();
    return new SealedArtifact(target, artifact.manifest(), artifact.sha256());
  }

  /** What {@link #seal} made. The digest is the SHA-256 of the manifest's bytes. */
  public record SealedArtifact(Path path, Manifest manifest, String sha256) {}

  /** Deletes everything that was staged. Does nothing after a seal. */
  public void discard() throws IOException {
    if (open) {
      files.delete(staging);
      files.delete(owner);
      open = false;
    }
  }

  /** {@link #discard}. */
  @Override
  public void close() throws IOException {
    discard();
  }

  private Map<String, FileFacts> digests(Workers workers, Progress progress) throws IOException {
    Set<Path> regionData = new HashSet<>();
    regions.forEach(set -> regionData.add(staging.resolve(set.data())));
    List<Path> hashed = new ArrayList<>(FolderScan.of(staging).files());
    hashed.removeAll(regionData);
    // A seal that failed half-way and is tried again must not count its own first try.
    for (String own : List.of(Manifest.FILE_NAME, Manifest.DIGEST_FILE_NAME)) {
      files.delete(staging.resolve(own));
      hashed.remove(staging.resolve(own));
    }
    Map<Path, Long> sizes = new HashMap<>();
    for (Path file : hashed) {
      sizes.put(file, Files.size(file));
    }
    long total = sizes.values().stream().mapToLong(Long::longValue).sum();
    // One thread hashes a file: the largest (criu's pages) decides how long all takes, so it
    // begins.
    hashed.sort(Comparator.comparing(sizes::get, Comparator.reverseOrder()));
    Hasher hasher = new Hasher(progress, total);
    List<Callable<FileFacts>> work = new ArrayList<>();
    hashed.forEach(file -> work.add(() -> hasher.file(file)));
    List<FileFacts> facts = workers.all(work);
    Map<String, FileFacts> digests = new TreeMap<>();
    for (int i = 0; i < facts.size(); i++) {
      digests.put(relative(hashed.get(i)), facts.get(i));
    }
    return digests;
  }

  private void publish() throws IOException {
    ArtifactStore.refuseExisting(target);
    try {
      files.rename(staging, target);
    } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
      throw new IOException(
          "artifact %s: wanted a name that is free, found one that another writer took"
              .formatted(target),
          e);
    }
  }

  /** The artifact is there whether or not this works; a sweep takes what stays. */
  private void forgetOwner() {
    try {
      files.delete(owner);
    } catch (IOException e) {
      System.getLogger(ArtifactStage.class.getName())
          .log(System.Logger.Level.WARNING, "a staging folder's owner file stays: " + owner, e);
    }
  }

  private void requireOpen() throws IOException {
    if (!open) {
      throw new IOException("artifact %s: wanted an open stage, found it closed".formatted(target));
    }
  }

  /** The folder in which {@link #regionData} lies. */
  public Path regionFolder() {
    return staging.resolve("regions");
  }

  private String relative(Path path) {
    return staging.relativize(path).toString();
  }
}
