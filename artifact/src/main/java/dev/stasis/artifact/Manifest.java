package dev.stasis.artifact;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An artifact's description: its origin, its requirements for a restore, and the digest of every
 * file in it. A folder with a manifest is an artifact.
 *
 * @param formatVersion the version of the whole folder's format, see {@link #FORMAT_VERSION}
 * @param origin the request, its time and tool version
 * @param node the node on which the workload ran
 * @param hardware the GPUs that the workload saw, in its order
 * @param processes every process of the tree, CUDA or not
 * @param mounts the source container's mounts, in the kernel's order
 * @param stdio the pipes that carry the workload's output
 * @param image the container's image, if known
 * @param user real uid and gid of the container's init process
 * @param sizes its sizes
 * @param regions the regions copied by the mover; empty on the criu data path
 * @param files every other file of the folder, by its path relative to the folder; set by the seal,
 *     whatever the draft contains
 * @param timings duration of each step in milliseconds, by the step's name
 * @param dataPath how the memory was saved, and why
 * @param openFilesOnVolumes files outside the container that were open at the dump; criu requires
 *     them unchanged
 * @param addresses addresses of the pod's network interfaces; empty in older artifacts
 * @param notPortable what prevents a restore of the workload in another pod; null if nothing is
 *     known to
 * @param device the device memory of the direct path; null if there is none
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
    @Nullable List<Obstacle> notPortable,
    @Nullable DeviceMemory device) {

  /**
   * The newest format that this code reads. It is written only if device memory took the direct
   * path, so that an agent that cannot restore it refuses the artifact.
   */
  public static final int FORMAT_VERSION = 4;

  /**
   * The format of every other artifact. Before format 3 each file had a plain SHA-256 ({@link
   * FileDigests}), before format 2 each chunk had one ({@link InterleavedSha256}).
   */
  static final int WITHOUT_DEVICE_MEMORY = 3;

  /** The manifest's name in an artifact's folder. */
  public static final String FILE_NAME = "manifest.json";

  /** The file with the manifest's own digest, in the format of {@code sha256sum}. */
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

  /** The files of device memory of the direct path, one per process. */
  public List<RegionSet> deviceSets() {
    return device == null ? List.of() : device.processes();
  }

  /** Both kinds of files with a digest for each chunk. */
  List<RegionSet> allSets() {
    List<RegionSet> all = new ArrayList<>(regions);
    all.addAll(deviceSets());
    return all;
  }

  /** Returns this draft with the values that only the seal knows. */
  Manifest sealed(
      List<RegionSet> regionSets, @Nullable DeviceMemory direct, Map<String, FileFacts> digests) {
    long bytes =
        digests.values().stream().mapToLong(FileFacts::size).sum()
            + regionSets.stream().mapToLong(RegionSet::storedBytes).sum()
            + (direct == null ? 0 : direct.storedBytes());
    return new Manifest(
        direct == null ? WITHOUT_DEVICE_MEMORY : FORMAT_VERSION,
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
        notPortable,
        direct);
  }

  /**
   * The origin of an artifact.
   *
   * @param id the uid of the request
   * @param namespace the namespace that owns it, if there is one
   * @param namespaceUid uid of that namespace; null in older artifacts
   * @param owner the requester, as given by the client
   * @param created start of the freeze
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

  /** The container's image: as requested, and as resolved. */
  public record Image(@Nullable String reference, @Nullable String digest) {}

  /** Numeric ids. */
  public record User(int uid, int gid) {}

  /**
   * Sizes in bytes.
   *
   * @param bytes stored size of all files except the manifest; chunks of zeros do not count
   * @param gpuBytes device memory of the workload at the checkpoint
   */
  public record Sizes(long bytes, long gpuBytes) {}

  /** How the memory was saved, and one sentence on the reason. */
  public record DataPath(Kind kind, String why) {
    public DataPath {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(why, "why");
    }

    /** The data paths. */
    public enum Kind {
      /** A library in the process passed large allocations to the keeper. */
      DIRECT,
      /** The mover copied device regions in chunks. */
      MOVER,
      /** criu wrote everything. */
      CRIU
    }
  }
}
