package dev.stasis.agent.engine;

import dev.stasis.artifact.Durability;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request for a checkpoint.
 *
 * @param id the operation's id: one word, unique for all time
 * @param name the artifact's name in the store
 * @param owner the requester, for users
 * @param namespace the namespace that owns the artifact; null outside Kubernetes
 * @param namespaceUid uid of that namespace, if known
 * @param container the container's id, a unique prefix of it, or {@code pid:N}
 * @param store the folder for the artifact; null for a suspend in memory
 * @param after what happens to the workload
 * @param options further options
 * @param image the container's image, if known
 * @param packedMounts mounts with files to pack (emptyDirs), by their paths in the container
 * @param podMounts mount points of the pod, each with its subPath in its volume, or an empty text;
 *     null outside Kubernetes
 * @param requester uid of the object to which the artifact belongs; null if that is the operation
 *     itself
 * @param attachments texts to store as files of the artifact, by their names
 */
public record CheckpointRequest(
    String id,
    String name,
    String owner,
    @Nullable String namespace,
    @Nullable String namespaceUid,
    String container,
    @Nullable Path store,
    After after,
    Options options,
    @Nullable ImageName image,
    Set<String> packedMounts,
    @Nullable Map<String, String> podMounts,
    @Nullable String requester,
    Map<String, String> attachments) {

  public CheckpointRequest {
    packedMounts = Set.copyOf(packedMounts);
    podMounts = podMounts == null ? null : Map.copyOf(podMounts);
    attachments = Map.copyOf(attachments);
    if (store == null && after != After.SUSPEND) {
      throw new IllegalArgumentException(
          "store: expected a folder for after=" + after + ", got none");
    }
  }

  /** A checkpoint without a requester or attachments. */
  public CheckpointRequest(
      String id,
      String name,
      String owner,
      @Nullable String namespace,
      String container,
      @Nullable Path store,
      After after,
      Options options,
      @Nullable ImageName image,
      Set<String> packedMounts) {
    this(
        id,
        name,
        owner,
        namespace,
        null,
        container,
        store,
        after,
        options,
        image,
        packedMounts,
        null,
        null,
        Map.of());
  }

  /**
   * Returns whether a workload is refused that could not be restored in another pod: its own pod is
   * removed, or the caller requires it.
   */
  boolean leavesItsPod() {
    return after == After.EVICT || options.requireRestorable();
  }

  /** Returns whether the user states that a target pod has the same address. */
  boolean addressStays() {
    return options.tcp() == Tcp.KEEP;
  }

  /** A container's image: as requested, and as resolved by the runtime. */
  public record ImageName(@Nullable String reference, @Nullable String digest) {}

  /**
   * Options of a checkpoint.
   *
   * @param lockTimeout how long the driver may wait for running kernels
   * @param stagePlace first destination of device regions
   * @param dataPath which program copies the memory
   * @param tcp handling of TCP connections in a restored workload; KEEP also states that its pod
   *     has the same address
   * @param thpAlways whether huge pages are enabled for the whole machine while the driver copies
   *     out
   * @param nothingShared whether the user states that processes share no GPU memory
   * @param threads copying and hashing threads
   * @param heldUntilDecided whether a held workload may only be thawed or ended by an order,
   *     because a copy of it may run elsewhere; its artifact is then synced after the freeze
   * @param requireRestorable whether a workload is refused that could not be restored in another
   *     pod
   */
  public record Options(
      Duration lockTimeout,
      StagePlace stagePlace,
      DataPathChoice dataPath,
      Tcp tcp,
      boolean thpAlways,
      boolean nothingShared,
      int threads,
      boolean heldUntilDecided,
      boolean requireRestorable) {

    /**
     * Returns when the artifact must be on the disk. A workload that is held until a decision stays
     * frozen with all of its memory, and its copy is filled from the same pages: the disk would
     * matter only after a crash of this machine, which ends both.
     */
    Durability durability() {
      return heldUntilDecided ? Durability.LATER : Durability.BEFORE_IT_IS_NAMED;
    }

    /** The defaults of the API, with a thread for each core that we may use. */
    public static Options defaults() {
      return new Options(
          Duration.ofSeconds(30),
          StagePlace.AUTO,
          DataPathChoice.MOVER,
          Tcp.CLOSE,
          false,
          false,
          Math.max(1, Runtime.getRuntime().availableProcessors()),
          false,
          false);
    }
  }

  /** First destination of device regions. */
  public enum StagePlace {
    /** In memory if the workload resumes and both copies fit, else in the store. */
    AUTO,
    /** In memory: the workload resumes before the store is written. */
    MEMORY,
    /** In the store's own file system. */
    DISK
  }

  /** Which program copies the memory. */
  public enum DataPathChoice {
    /** The mover if its rules allow it, else criu. */
    MOVER,
    /**
     * The mover, which drops what it has copied in the process: less host memory, and the stage
     * holds the only copy. The mover chooses this itself if host memory cannot hold both copies.
     */
    LOW_MEMORY,
    /** criu, always. */
    CRIU
  }

  /** Handling of established TCP connections in the image. */
  public enum Tcp {
    /** They are kept; the restored ones work only with the same address. */
    KEEP,
    /** They are closed in the restored workload; listeners are kept. */
    CLOSE
  }
}
