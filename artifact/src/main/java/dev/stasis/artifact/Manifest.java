package dev.stasis.artifact;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What an artifact says about itself: where it came from, what it needs to come back, and the
 * digest of every file in it. Its presence makes a folder an artifact.
 *
 * @param formatVersion the version of the whole folder's format, see {@link #FORMAT_VERSION}
 * @param origin who asked, when, with what
 * @param node the node on which the workload ran
 * @param hardware the GPUs that the workload saw, in its order
 * @param processes every process of the tree, CUDA or not
 * @param mounts the source container's mounts, in the kernel's order
 * @param stdio the pipes that carry the workload's output
 * @param image the container's image, where it is known
 * @param user real uid and gid of the container's init process
 * @param sizes how big it is
 * @param regions the device regions that were moved beside criu; empty on the criu data path
 * @param files every other file of the folder, by its path relative to the folder; filled by the
 *     seal, whatever the draft says
 * @param timings how long each step took, in milliseconds, by the step's name
 * @param dataPath which way the memory went, and why
 * @param openFilesOnVolumes files that lie outside the container and were open at the dump; criu
 *     will want them unchanged
 * @param addresses those of the pod's network interfaces; empty in artifacts that were written
 *     before they were recorded
 * @param notPortable what keeps the workload from being restored in another pod; null when nothing
 *     is known to
 */
public record Manifest(
    int formatVersion,
    Origin origin,
    NodeFacts node,
    Hardware hardware,
    List<ProcessFacts> processes,
    List<SourceMount> mounts,
    List<StdioPipe> stdio,
    @Nullable Image image,
    User user,
    Sizes sizes,
    List<RegionSet> regions,
    Map<String, FileFacts> files,
    Map<String, Long> timings,
    DataPath dataPath,
    List<VolumeFile> openFilesOnVolumes,
    @Nullable List<InterfaceAddress> addresses,
    @Nullable List<Obstacle> notPortable) {

  /**
   * The format that this code writes, and the newest that it reads. 2 has chunks with digests of
   * sixteen lanes; 1, with one SHA-256 each, is read as well.
   */
  public static final int FORMAT_VERSION = 2;

  /** The manifest's name in an artifact's folder. */
  public static final String FILE_NAME = "manifest.json";

  /** The file that holds the manifest's own digest, as {@code sha256sum} writes it. */
  public static final String DIGEST_FILE_NAME = "manifest.json.sha256";

  public Manifest {
    Objects.requireNonNull(origin, "origin");
    Objects.requireNonNull(node, "node");
    Objects.requireNonNull(hardware, "hardware");
    Objects.requireNonNull(user, "user");
    Objects.requireNonNull(sizes, "sizes");
    Objects.requireNonNull(dataPath, "dataPath");
    processes = List.copyOf(processes);
    mounts = List.copyOf(mounts);
    stdio = List.copyOf(stdio);
    regions = List.copyOf(regions);
    files = Map.copyOf(files);
    timings = Map.copyOf(timings);
    openFilesOnVolumes = List.copyOf(openFilesOnVolumes);
    notPortable = notPortable == null ? null : List.copyOf(notPortable);
    addresses = addresses == null ? List.of() : List.copyOf(addresses);
  }

  @Override
  public List<InterfaceAddress> addresses() {
    return Objects.requireNonNull(addresses);
  }

  /** This draft with what only the seal knows. */
  Manifest sealed(List<RegionSet> regionSets, Map<String, FileFacts> digests) {
    long bytes =
        digests.values().stream().mapToLong(FileFacts::size).sum()
            + regionSets.stream().mapToLong(RegionSet::storedBytes).sum();
    return new Manifest(
        FORMAT_VERSION,
        origin,
        node,
        hardware,
        processes,
        mounts,
        stdio,
        image,
        user,
        new Sizes(bytes, sizes.gpuBytes()),
        regionSets,
        new TreeMap<>(digests),
        timings,
        dataPath,
        openFilesOnVolumes,
        addresses,
        notPortable);
  }

  /**
   * Where an artifact came from.
   *
   * @param id the uid of the request that asked for it
   * @param namespace the namespace that owns it, if there is one
   * @param namespaceUid uid of that namespace; null in artifacts that were made before it was kept
   * @param owner who asked, as the asker wrote it
   * @param created when the freeze began
   * @param toolVersion the version of Stasis that wrote it
   */
  public record Origin(
      String id,
      @Nullable String namespace,
      @Nullable String namespaceUid,
      @Nullable String owner,
      Instant created,
      String toolVersion) {
    public Origin {
      Objects.requireNonNull(id, "id");
      Objects.requireNonNull(created, "created");
      Objects.requireNonNull(toolVersion, "toolVersion");
    }
  }

  /** The container's image: as it was asked for, and as it was resolved. */
  public record Image(@Nullable String reference, @Nullable String digest) {}

  /** Numeric ids. */
  public record User(int uid, int gid) {}

  /**
   * Sizes in bytes.
   *
   * @param bytes all files of the artifact but the manifest, as they are stored; zero chunks count
   *     nothing
   * @param gpuBytes device memory of the workload at the checkpoint
   */
  public record Sizes(long bytes, long gpuBytes) {}

  /** Which way the memory went, and in one sentence why. */
  public record DataPath(Kind kind, String why) {
    public DataPath {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(why, "why");
    }

    /** The two ways. */
    public enum Kind {
      /** Device regions went beside criu, in chunks. */
      MOVER,
      /** criu wrote everything. */
      CRIU
    }
  }
}
