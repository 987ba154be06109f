package dev.stasis.agent.engine;

import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ChunkTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Publishes the artifact of a complete capture. */
final class Publication {

  private final NodeParts node;
  private final String containerId;
  private final ArtifactStage artifact;
  private final int threads;
  private final StepListener listener;

  Publication(
      NodeParts node,
      String containerId,
      ArtifactStage artifact,
      int threads,
      StepListener listener) {
    this.node = node;
    this.containerId = containerId;
    this.artifact = artifact;
    this.threads = threads;
    this.listener = listener;
  }

  /**
   * Adds the staged memory to the artifact, every chunk checked, and seals it.
   *
   * @throws IOException if a part is missing or has changed, or the store fails
   */
  ArtifactStage.SealedArtifact run(Capture capture) throws IOException, InterruptedException {
    for (Capture.Regions regions : capture.regions()) {
      JournalReading reading = node.journals().read(Path.of(regions.journal()));
      if (!(reading instanceof JournalReading.Read read)) {
        throw new IOException(reading.describe());
      }
      artifact.addRegions(
          regions.ownPid(),
          Path.of(regions.stage()),
          new ChunkTable(read.journal().regions(), List.copyOf(read.journal().chunks().values())),
          regions.host(),
          threads,
          (done, total) -> listener.progress("hash", done, total));
    }
    for (Capture.Device device : capture.device()) {
      addDeviceMemory(Objects.requireNonNull(capture.library()), device);
    }
    return artifact.seal(
        capture.manifest(),
        capture.durability(),
        threads,
        (done, total) -> listener.progress("publish", done, total));
  }

  /** Writes the keeper's copy of the freeze, unless it was written during the freeze. */
  private void addDeviceMemory(String library, Capture.Device device)
      throws IOException, InterruptedException {
    Path file = Path.of(device.file());
    if (!device.saved()) {
      Files.createDirectories(artifact.deviceFolder());
      try (Keeper keeper = node.keepers().open(containerId)) {
        keeper.save(device.process(), file, device.bytes());
      } catch (KeeperFailure e) {
        throw new IOException("device memory: " + e.getMessage(), e);
      }
    }
    artifact.addDeviceMemory(
        library,
        device.ownPid(),
        file,
        threads,
        (done, total) -> listener.progress("hash", done, total));
  }
}
