package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.artifact.ArtifactStage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses where device regions are put at first. In memory the workload goes on before the store is
 * written, but the device memory then lies there twice; on disk it lies there once and goes
 * straight into the artifact.
 */
final class StagePlan {

  private final NodeParts node;
  private final CheckpointRequest request;
  private final Container container;
  private final long gpuBytes;

  StagePlan(NodeParts node, CheckpointRequest request, Container container, long gpuBytes) {
    this.node = node;
    this.request = request;
    this.container = container;
    this.gpuBytes = gpuBytes;
  }

  /** The folder of the stage: the artifact's own for regions, or one on a tmpfs of the host. */
  Path folder(@Nullable ArtifactStage artifact) throws StepFailure {
    if (artifact == null) {
      return memory();
    }
    Path disk = artifact.regionFolder();
    return switch (request.options().stagePlace()) {
      case DISK -> disk;
      case MEMORY -> {
        Optional<String> missing = missingInMemory();
        if (missing.isPresent()) {
          throw new StepFailure(Reason.NO_ROOM, missing.get());
        }
        yield memory();
      }
      // Evicted workloads stand still until the artifact is on the disk: a copy in memory would
      // only cost time.
      case AUTO -> request.after() != After.EVICT && missingInMemory().isEmpty() ? memory() : disk;
    };
  }

  /**
   * Returns how often the device memory lies in host memory at once: in the process, and in a stage
   * in memory, from which it is filled back before the artifact is published.
   */
  int copies(Path stage) {
    boolean isKept = request.store() != null && request.after() != After.EVICT;
    return isKept && stage.startsWith(node.memoryStage()) ? 2 : 1;
  }

  private Path memory() {
    return node.memoryStage().resolve(node.proc().bootId() + "-" + container.id());
  }

  private Optional<String> missingInMemory() {
    Optional<String> room = node.room().missing(container, gpuBytes, 2);
    if (room.isPresent()) {
      return room;
    }
    try {
      Files.createDirectories(node.memoryStage());
      long free =
          Files.getFileStore(node.memoryStage()).getUsableSpace()
              - node.ledger().others(container.id()).stageBytes();
      if (free < gpuBytes) {
        return Optional.of(
            "stage in memory %s: wanted %d bytes free, found %d"
                .formatted(node.memoryStage(), gpuBytes, free));
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("stage in memory " + node.memoryStage() + ": " + e.getMessage());
    }
  }
}
