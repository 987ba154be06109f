package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.artifact.ArtifactStage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the first destination of copied memory. With a stage in memory the workload resumes
 * before the store is written, but the device memory is then in host memory twice, once charged to
 * the pod and once to the node only. On disk it is written directly into the artifact. The process
 * keeps its own copy, unless host memory cannot hold both.
 */
final class StagePlan {

  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

  private final NodeParts node;
  private final CheckpointRequest request;
  private final Container container;
  private final long gpuBytes;
  private final long hostBytes;

  StagePlan(NodeParts node, CheckpointRequest request, Container container, Inspected inspected) {
    this.node = node;
    this.request = request;
    this.container = container;
    this.gpuBytes = inspected.gpuBytes();
    this.hostBytes = inspected.hostBytes();
  }

  /**
   * Returns the stage for the artifact, or for a suspend in memory. Does not use the store, which
   * may not respond: other operations wait for their reservations meanwhile.
   *
   * @param storeInMemory whether the file system of the store is in memory
   */
  ChosenStage choose(@Nullable ArtifactStage artifact, boolean storeInMemory) throws StepFailure {
    if (artifact == null) {
      return new ChosenStage(memory(), true, false, 0, false, null); // Nothing is copied.
    }
    return switch (request.options().stagePlace()) {
      case DISK -> inStore(artifact, storeInMemory);
      case MEMORY -> {
        Optional<String> missing = missingInMemory(gpuBytes);
        if (missing.isPresent()) {
          throw new StepFailure(Reason.NO_ROOM, missing.get());
        }
        yield inMemory(storeInMemory);
      }
      // Evicted workloads stay frozen until the artifact is on the disk: a copy in memory would
      // only cost time.
      case AUTO ->
          request.after() != After.EVICT && missingInMemory(gpuBytes).isEmpty()
              ? inMemory(storeInMemory)
              : inStore(artifact, storeInMemory);
    };
  }

  /**
   * Determines the data path for that stage: a suspend on the direct path needs space in memory for
   * all of it.
   */
  DataPath settle(DataPath wanted, ChosenStage stage) {
    if (!(wanted instanceof DataPath.Direct direct) || request.after() != After.SUSPEND) {
      return wanted;
    }
    Optional<String> missing =
        stage.inMemory() && stage.folder().startsWith(node.memoryStage())
            ? missingOnStage(gpuBytes)
            : Optional.of(
                "host memory: expected room for two copies of the device memory, got less");
    if (missing.isEmpty()) {
      return wanted;
    }
    return direct.only() ? new DataPath.None(missing.get()) : new DataPath.Driver(missing.get());
  }

  /** With all large memory, or with device memory only if the rest does not fit. */
  private ChosenStage inMemory(boolean storeInMemory) {
    boolean hostToo = asked().isEmpty() && missingInMemory(all()).isEmpty();
    return new ChosenStage(
        memory(), true, storeInMemory, hostToo ? all() : gpuBytes, hostToo, asked().orElse(null));
  }

  /** A store in memory needs room for both copies, too. */
  private ChosenStage inStore(ArtifactStage artifact, boolean inMemory) {
    Optional<String> lowMemory = asked();
    if (lowMemory.isEmpty() && inMemory) {
      lowMemory = node.room().missing(container, gpuBytes, all());
    }
    boolean keeps = lowMemory.isEmpty();
    return new ChosenStage(
        artifact.regionFolder(),
        inMemory,
        inMemory,
        inMemory && keeps ? all() : 0,
        keeps,
        lowMemory.orElse(null));
  }

  private long all() {
    return gpuBytes + hostBytes;
  }

  private Optional<String> asked() {
    return request.options().dataPath() == DataPathChoice.LOW_MEMORY
        ? Optional.of("asked for")
        : Optional.empty();
  }

  boolean isInMemory(Path folder) throws StepFailure {
    try {
      return IN_MEMORY.contains(Files.getFileStore(folder).type());
    } catch (IOException e) {
      throw new StepFailure(
          Reason.STORE_FAILED, "file system of " + folder + ": " + e.getMessage(), e);
    }
  }

  private Path memory() {
    return node.memoryStage().resolve(node.proc().bootId() + "-" + container.id());
  }

  private Optional<String> missingInMemory(long staged) {
    Optional<String> room = node.room().missing(container, gpuBytes, staged);
    return room.isPresent() ? room : missingOnStage(staged);
  }

  private Optional<String> missingOnStage(long staged) {
    try {
      Files.createDirectories(node.memoryStage());
      long free =
          Files.getFileStore(node.memoryStage()).getUsableSpace()
              - node.ledger().others(container.id()).stageBytes();
      if (free < staged) {
        return Optional.of(
            "stage in memory %s: expected %d bytes free, got %d"
                .formatted(node.memoryStage(), staged, free));
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("stage in memory " + node.memoryStage() + ": " + e.getMessage());
    }
  }
}
