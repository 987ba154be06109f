package dev.stasis.agent.engine;

import dev.stasis.artifact.Durability;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a checkpoint.
 *
 * @param id the operation's id: one word, unique for all time
 * @param name the artifact's name in the store
 * @param owner for whom, as people should read it
 * @param namespace the namespace that owns the artifact; null outside Kubernetes
 * @param namespaceUid uid of that namespace, where it is known
 * @param container the container's id, or a unique beginning of it, or {@code pid:N}
 * @param store the folder that takes the artifact; null for a suspend in memory
 * @param after what becomes of the workload
 * @param options how it is done
 * @param image what the container's image is, where it is known
 * @param packedMounts mounts whose files go along (emptyDirs), by their paths in the container
 * @param podMounts where the pod itself has volumes; null outside Kubernetes
 * @param requester uid of the object to which the artifact belongs; null where that is the
 *     operation itself
 * @param attachments texts that go along as files of the artifact, by their names
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
    @Nullable Set<String> podMounts,
    @Nullable String requester,
    Map<String, String> attachments) {

  public CheckpointRequest {
    packedMounts = Set.copyOf(packedMounts);
    podMounts = podMounts == null ? null : Set.copyOf(podMounts);
    attachments = Map.copyOf(attachments);
    if (store == null && after != After.SUSPEND) {
      throw new IllegalArgumentException(
          "store: wanted a folder for after=" + after + ", found none");
    }
  }

  /** A checkpoint that belongs to nobody else, with nothing attached. */
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
   * Whether what keeps the workload from another pod rules the checkpoint out: its own pod is
   * removed, or it is wanted for another one.
   */
  boolean leavesItsPod() {
    return after == After.EVICT || options.requireRestorable();
  }

  /** Whether the user says that a target pod has the address of this one. */
  boolean addressStays() {
    return options.tcp() == Tcp.KEEP;
  }

  /** A container's image: as it was asked for, and as the runtime resolved it. */
  public record ImageName(@Nullable String reference, @Nullable String digest) {}

  /**
   * How a checkpoint is done.
   *
   * @param lockTimeout how long the driver may wait for running kernels
   * @param stagePlace where device regions are put at first
   * @param dataPath who moves the memory
   * @param tcp what becomes of TCP connections in a restored workload; KEEP says, too, that its pod
   *     has the same address
   * @param thpAlways whether huge pages are switched on for the whole machine while the driver
   *     copies out
   * @param allowPeerToPeer whether several processes with NCCL are taken although their shared
   *     memory may not come back
   * @param threads copying and hashing threads
   * @param durability when the artifact has to be on the disk
   * @param requireRestorable whether a workload is refused that could not be restored in another
   *     pod
   */
  public record Options(
      Duration lockTimeout,
      StagePlace stagePlace,
      DataPathChoice dataPath,
      Tcp tcp,
      boolean thpAlways,
      boolean allowPeerToPeer,
      int threads,
      Durability durability,
      boolean requireRestorable) {

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
          Durability.BEFORE_IT_IS_NAMED,
          false);
    }
  }

  /** Where device regions are put at first. */
  public enum StagePlace {
    /** In memory when the workload goes on and both copies fit, else in the store. */
    AUTO,
    /** In memory: the workload goes on before the store is written. */
    MEMORY,
    /** In the store's own file system. */
    DISK
  }

  /** Who moves the memory. */
  public enum DataPathChoice {
    /** The mover where its rules hold, else criu. */
    MOVER,
    /** criu, always. */
    CRIU
  }

  /** What becomes of established TCP connections in the image. */
  public enum Tcp {
    /** They stay; the restored ones work only under the same address. */
    KEEP,
    /** They are closed in the restored workload; listeners stay. */
    CLOSE
  }
}
