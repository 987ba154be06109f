package dev.stasis.agent.engine;

import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ChunkTable;
import dev.stasis.artifact.FailedSyncException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Publishes the artifact of a complete capture. */
final class Publication {

  private final NodeParts node;
  private final String containerId;
  private final ArtifactStage artifact;
  private final int threads;
  private final StepListener listener;
  private final StoreCalls storeCalls;

  Publication(
      NodeParts node,
      String containerId,
      ArtifactStage artifact,
      int threads,
      StepListener listener,
      StoreCalls storeCalls) {
    this.node = node;
    this.containerId = containerId;
    this.artifact = artifact;
    this.threads = threads;
    this.listener = listener;
    this.storeCalls = storeCalls;
  }

  /**
   * Held by the thread that publishes, which may be left behind: once its store responds, it may
   * still write or delete a file of the stage. No other attempt may have that stage by then, nor
   * may each attempt leave one more thread behind.
   *
   * @throws IOException if another one has not ended
   */
  static HostLocks.Held exclusive(NodeParts node, String containerId) throws IOException {
    return node.locks()
        .tryTake("publication-" + containerId)
        .orElseThrow(
            () ->
                new IOException(
                    "container %s: expected no publication, got one that waits for its store"
                        .formatted(containerId)));
  }

  /** How long it may make no progress at first: the keeper's save has a limit of its own. */
  static Duration limit(Capture capture) {
    long unsaved =
        capture.device().stream()
            .filter(device -> !device.saved())
            .mapToLong(Capture.Device::bytes)
            .sum();
    return unsaved == 0 ? Duration.ZERO : MoveStep.deadline(unsaved);
  }

  /**
   * Adds the staged memory to the artifact, every chunk checked, and seals it.
   *
   * @param saved receives the capture when the keeper has written its copies of the device memory,
   *     because it drops them then
   * @throws FailedSyncException if it can never be published, which is recorded by then
   * @throws IOException if a part is missing or has changed, or the store fails
   */
  ArtifactStage.SealedArtifact run(Capture capture, Consumer<Capture> saved)
      throws IOException, InterruptedException {
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
    if (save(capture.device())) {
      saved.accept(capture.saved(artifact.sizes()));
    }
    for (Capture.Device device : capture.device()) {
      artifact.addDeviceMemory(
          Objects.requireNonNull(capture.library()),
          device.ownPid(),
          Path.of(device.file()),
          threads,
          (done, total) -> listener.progress("hash", done, total));
    }
    try {
      return artifact.seal(
          capture.manifest(),
          capture.durability(),
          threads,
          (done, total) -> listener.progress("publish", done, total));
    } catch (FailedSyncException e) {
      FailedSync.of(node.journal().folderOf(containerId), artifact.folder()).write(e);
      throw e;
    }
  }

  /**
   * Writes the keeper's copies of the freeze that were not written during the freeze; returns
   * whether there were any.
   */
  private boolean save(List<Capture.Device> all) throws IOException, InterruptedException {
    List<Capture.Device> unsaved = all.stream().filter(device -> !device.saved()).toList();
    if (unsaved.isEmpty()) {
      return false;
    }
    Files.createDirectories(artifact.deviceFolder());
    try (Keeper keeper = node.keepers().open(containerId)) {
      for (Capture.Device device : unsaved) {
        new KeeperSave(keeper, node.storeSilence(), storeCalls)
            .run(device.process(), Path.of(device.file()), device.bytes(), saved -> {});
      }
      return true;
    } catch (KeeperFailure e) {
      throw new IOException("device memory: " + e.getMessage(), e);
    }
  }
}
