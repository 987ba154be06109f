package dev.stasis.artifact;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An artifact that is being written: a private folder beside its final path. The artifact is not
 * visible before {@link #seal} has returned, even if the machine crashes. Not thread-safe, except
 * for {@link #revoke}.
 */
public final class ArtifactStage implements AutoCloseable {
  /** The names of {@link #criu} and {@link #deviceFolder}. */
  public static final String CRIU = "criu";

  public static final String DEVICE_FOLDER = "device";

  private final Path staging;
  private final Path owner;
  private final Path target;
  private final StoreFiles files;
  private final List<RegionSet> regions = new ArrayList<>();
  private @Nullable DeviceMemory device;
  private final AtomicBoolean publishable = new AtomicBoolean(true);
  private boolean open = true;

  ArtifactStage(Path staging, Path owner, Path target, StoreFiles files) {
    this.staging = staging;
    this.owner = owner;
    this.target = target;
    this.files = new SyncCheckedFiles(files);
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

  /**
   * Returns the size of each file that is staged now, by its path relative to the folder. A
   * successor of this writer continues with it: {@link ArtifactStore#reopen}.
   */
  public Map<String, Long> sizes() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    for (Path file : FolderScan.of(staging).files()) {
      sizes.put(relative(file), Files.size(file));
    }
    return sizes;
  }

  /** Deletes all files that are not in the list. Every file of the list must have its size. */
  void reduceTo(Map<String, Long> sizes) throws IOException {
    Map<String, Long> found = sizes();
    for (Map.Entry<String, Long> file : sizes.entrySet()) {
      if (!file.getValue().equals(found.get(file.getKey()))) {
        throw new IOException(
            "stage %s: expected %s with %d bytes, got %s"
                .formatted(staging, file.getKey(), file.getValue(), found.get(file.getKey())));
      }
    }
    found.keySet().removeAll(sizes.keySet());
    for (String extra : found.keySet()) {
      files.delete(staging.resolve(extra));
    }
  }

  /** Returns the staging folder without its folders, for an artifact that comes with its own. */
  public Path emptied() throws IOException {
    for (Path folder : List.of(criu(), layer(), regionFolder())) {
      Files.delete(folder);
    }
    return staging;
  }

  /** The folder for criu's images, and for nothing else. */
  public Path criu() {
    return staging.resolve(CRIU);
  }

  /** The folder for files that the workload wrote: its layer, /dev/shm, emptyDirs. */
  public Path layer() {
    return staging.resolve("layer");
  }

  /** The file into which the mover copies a process's regions if it stages on this disk. */
  public Path regionData(int ownPid) {
    return regionFolder().resolve(ownPid + ".data");
  }

  /**
   * Adds the regions of one process: checks the CRC32C of each chunk, computes its digest, copies
   * it here unless it is in {@link #regionData} already, and writes the table. Chunks of zeros stay
   * holes.
   *
   * @param data the stage that holds the chunks
   * @param host the regions of the table that are not device memory
   * @param threads number of chunks read in parallel
   * @throws IOException if a chunk has changed, with its number, or the disk is full
   */
  public RegionSet addRegions(
      int ownPid, Path data, ChunkTable table, List<Region> host, int threads, Progress progress)
      throws IOException {
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
            hashed.regions(),
            host);
    regions.add(set);
    return set;
  }

  /**
   * Adds device memory of the direct path: checks each chunk, and copies it here unless the keeper
   * has written it into {@link #deviceFolder}, with its digests.
   *
   * @param library the path of the library in the container
   * @param saved the files, without {@code .data} and {@code .chunks}
   * @param threads number of chunks read in parallel
   * @throws IOException if a chunk has changed, with its number, or the disk is full
   */
  public void addDeviceMemory(
      String library, int ownPid, Path saved, int threads, Progress progress) throws IOException {
    requireOpen();
    Path data = deviceData(ownPid);
    Path chunks = deviceFolder().resolve(ownPid + ".chunks");
    String text = Files.readString(Path.of(saved + ".chunks"), StandardCharsets.US_ASCII);
    ChunkTable table = DeviceTable.parse(text);
    if (!Files.isDirectory(deviceFolder())) {
      files.createFolder(deviceFolder());
    }
    new RegionCopy(Path.of(saved + ".data"), data, table).run(new Workers(threads), progress);
    if (!Files.exists(chunks)) {
      files.write(chunks, text.getBytes(StandardCharsets.US_ASCII));
    }
    List<RegionSet> sets = new ArrayList<>(device == null ? List.of() : device.processes());
    sets.add(
        new RegionSet(
            ownPid,
            relative(data),
            Files.size(data),
            table.storedBytes(),
            relative(chunks),
            table.chunks().size(),
            table.regions(),
            null));
    device = new DeviceMemory(library, sets);
  }

  /** The folder into which device memory of the direct path is written directly. */
  public Path deviceFolder() {
    return staging.resolve(DEVICE_FOLDER);
  }

  private Path deviceData(int ownPid) {
    return deviceFolder().resolve(ownPid + ".data");
  }

  /**
   * Publishes the artifact: computes the digests of all files, syncs everything, writes the
   * manifest last, renames the folder, and reads the manifest back at its final path. After a
   * failure the stage can be discarded, and sealed later except after {@link FailedSyncException}.
   *
   * @param draft the manifest without files and regions, which are added here
   * @param threads number of files read in parallel
   */
  public SealedArtifact seal(Manifest draft, int threads, Progress progress) throws IOException {
    return seal(draft, Durability.BEFORE_IT_IS_NAMED, threads, progress);
  }

  /** The same, but syncs only if durability requires it. */
  public SealedArtifact seal(Manifest draft, Durability durability, int threads, Progress progress)
      throws IOException {
    requireOpen();
    FolderScan.of(staging).keepToRoot();
    Map<String, FileFacts> digests = digests(new Workers(threads), progress);
    Manifest manifest = draft.sealed(regions, device, digests);
    byte[] bytes = new ManifestCodec().bytes(manifest);
    if (bytes.length > ManifestCodec.MOST_BYTES) {
      throw new IOException(
          "%s: expected at most %d bytes, the limit of readers, got %d"
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
        requireOpen();
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
          "artifact %s: expected the written manifest, got a different one".formatted(target));
    }
    forgetOwner();
    return new SealedArtifact(target, manifest, digest);
  }

  /**
   * Publishes an artifact received from another node over a connection that checks every byte,
   * including the manifest. Checks that it has its digest, and that exactly its files exist, with
   * their sizes. The content of files is checked when the artifact is opened, which comes next.
   * Nothing is synced, because the other node still has it. After a failure the stage can be
   * discarded.
   *
   * @param sha256 the required digest; null if it did not exist yet when the transfer was
   *     requested, in which case the caller must compare it
   * @throws IOException if it is another artifact, with the difference, or the disk fails
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

  /**
   * Prevents a seal in another thread, which may wait for a disk, from publishing the artifact.
   *
   * @return false if the artifact is published, or is being renamed now
   */
  public boolean revoke() {
    return publishable.compareAndSet(true, false);
  }

  /** The result of {@link #seal}. The digest is the SHA-256 of the manifest's bytes. */
  public record SealedArtifact(Path path, Manifest manifest, String sha256) {}

  /** Deletes everything that was staged. Has no effect after a seal. */
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
    if (device != null) {
      device.processes().forEach(set -> regionData.add(staging.resolve(set.data())));
    }
    // A repeated seal must not count the files of a failed first attempt.
    for (String own : List.of(Manifest.FILE_NAME, Manifest.DIGEST_FILE_NAME)) {
      files.delete(staging.resolve(own));
    }
    return new FolderDigests(staging, workers).of(regionData, progress);
  }

  private void publish() throws IOException {
    ArtifactStore.refuseExisting(target);
    if (!publishable.compareAndSet(true, false)) {
      requireOpen();
    }
    try {
      files.rename(staging, target);
    } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
      publishable.set(true);
      throw new IOException(
          "artifact %s: expected an unused name, got one that another writer has taken"
              .formatted(target),
          e);
    }
  }

  /** The artifact exists even if this fails; a sweep removes the remainder. */
  private void forgetOwner() {
    try {
      files.delete(owner);
    } catch (IOException e) {
      System.getLogger(ArtifactStage.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "cannot delete the owner file of a staging folder: " + owner,
              e);
    }
  }

  private void requireOpen() throws IOException {
    if (!open || !publishable.get()) {
      throw new IOException(
          "artifact %s: expected an open stage, got a closed one".formatted(target));
    }
  }

  /** The folder that contains {@link #regionData}. */
  public Path regionFolder() {
    return staging.resolve("regions");
  }

  private String relative(Path path) {
    return staging.relativize(path).toString();
  }
}
