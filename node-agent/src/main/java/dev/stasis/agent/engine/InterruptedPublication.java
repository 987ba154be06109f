package dev.stasis.agent.engine;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the artifact of a checkpoint whose agent ended between the complete capture and the
 * publication, or whose store failed then. The workload may run by then, or may have ended.
 */
public final class InterruptedPublication {

  private static final System.Logger LOG = System.getLogger(InterruptedPublication.class.getName());

  private final NodeParts node;

  InterruptedPublication(NodeParts node) {
    this.node = node;
  }

  /**
   * Returns whether the capture of an operation is complete, so that its artifact may be published;
   * not after a failed sync of its stage. Without reading a store, which may not answer while the
   * workload is frozen.
   */
  public boolean isCaptured(Work work) {
    Path folder = node.journal().folderOf(work.containerId());
    @Nullable String staging = work.artifactStage();
    return Capture.isStored(folder)
        && (staging == null || !FailedSync.of(folder, Path.of(staging)).exists());
  }

  /**
   * Returns whether the artifact of a workload that was to be held may be published. It does not
   * read a store either: the capture is recorded before that, except that of a migration's source.
   */
  public boolean mayBePublished(Work work) {
    return work.phase() == Work.Phase.HELD || work.heldUntilDecided() || isCaptured(work);
  }

  /**
   * Publishes the artifact of a recorded operation, as a whole or not at all. Attempts can be
   * repeated; after some in which the agent has died, only after a wait.
   *
   * @return whether it is published now; not if there is no complete capture, a part of it is
   *     missing or has changed, the store fails, or the next attempt has to wait
   */
  public boolean complete(Work work) throws InterruptedException {
    Optional<HostLocks.Held> lock = node.locks().tryTake(work.containerId());
    if (lock.isEmpty()) {
      return false;
    }
    try (HostLocks.Held held = lock.get()) {
      Optional<Work> now = node.journal().read(work.containerId());
      return now.isPresent()
          && now.get().id().equals(work.id())
          && now.get().bootId().equals(node.proc().bootId())
          && completeLocked(now.get());
    }
  }

  /** The same for a caller that holds the lock of the container. */
  boolean completeLocked(Work work) throws InterruptedException {
    AtomicReference<@Nullable ArtifactStage> stage = new AtomicReference<>();
    boolean published = false;
    try {
      published =
          work.phase() == Work.Phase.PUBLISHING
              ? publish(work, stage, longer -> {})
              // It may be frozen, and must not wait for a store that does not respond.
              : new StoreCalls(node.storeSilence())
                  .call("artifact of " + work.id(), pulse -> publish(work, stage, pulse));
    } catch (StepFailure silent) {
      LOG.log(System.Logger.Level.WARNING, "Cannot publish the artifact of " + work.id(), silent);
      agentLives(work);
    } catch (IOException | RuntimeException e) {
      LOG.log(System.Logger.Level.WARNING, "Cannot publish the artifact of " + work.id(), e);
    } finally {
      ArtifactStage begun = stage.get();
      if (!published && begun != null) {
        var unused = begun.revoke();
      }
    }
    return published;
  }

  /** An attempt that was left behind has not ended its agent. */
  private void agentLives(Work work) {
    Path folder = node.journal().folderOf(work.containerId());
    try {
      Optional<Capture> stored = Capture.stored(folder);
      if (stored.isPresent() && stored.get().attempts() > 0) {
        stored
            .get()
            .withAttempts(stored.get().attempts() - 1, node.clock().instant())
            .write(folder);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "capture of " + work.id(), e);
    }
  }

  /** Returns whether a complete capture is not published yet, and its stage still exists. */
  boolean isPending(Work work) {
    @Nullable String staging = work.artifactStage();
    if (staging == null || !isCaptured(work)) {
      return false;
    }
    Path stage = Path.of(staging);
    try {
      return new StoreCalls(node.storeSilence())
          .call(
              "stage of " + work.id(),
              pulse -> {
                try (HostLocks.Held held = Publication.exclusive(node, work.containerId())) {
                  return !Files.notExists(stage);
                }
              });
    } catch (StepFailure | IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "A store that does not answer may still have it", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return true;
  }

  /**
   * Returns that state, or an unknown one if the workload has ended and its stage is the only copy:
   * then its record and its stage stay, and each further thaw tries to publish it.
   */
  SourceState unlessOnlyCopy(Work work, SourceState state) {
    return state.kind() == SourceState.Kind.GONE && isOnlyCopy(work)
        ? new SourceState(
            SourceState.Kind.UNKNOWN,
            "%s; its artifact is not published yet, and the only copy is in %s: retrying"
                .formatted(state.detail(), work.artifactStage()))
        : state;
  }

  private boolean isOnlyCopy(Work work) {
    try {
      return isPending(work)
          && Capture.stored(node.journal().folderOf(work.containerId()))
              .filter(Capture::hasDeviceMemory)
              .isPresent();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "capture of " + work.id(), e);
      return false;
    }
  }

  private boolean publish(
      Work work, AtomicReference<@Nullable ArtifactStage> begins, StoreCalls.Pulse pulse)
      throws IOException, InterruptedException {
    @Nullable String staging = work.artifactStage();
    @Nullable String target = work.artifact();
    if (staging == null || target == null || !isCaptured(work)) {
      return false;
    }
    try (HostLocks.Held held = Publication.exclusive(node, work.containerId())) {
      // The attempt that has just ended may have failed to sync it.
      if (Files.notExists(Path.of(staging)) || !isCaptured(work)) {
        return false;
      }
      // If it was left behind: by now the folder may have the capture of a later checkpoint.
      pulse.beat();
      return publish(work, Path.of(staging), Path.of(target), begins, pulse);
    }
  }

  private boolean publish(
      Work work,
      Path staging,
      Path path,
      AtomicReference<@Nullable ArtifactStage> begins,
      StoreCalls.Pulse pulse)
      throws IOException, InterruptedException {
    Path folder = node.journal().folderOf(work.containerId());
    Optional<Capture> stored = Capture.stored(folder);
    if (stored.isEmpty()) {
      return false;
    }
    int died = stored.get().attempts();
    Instant now = node.clock().instant();
    if (!stored.get().isDue(now)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Waiting to publish the artifact of {0}: {1} agents have died while they published it,"
              + " the last one after {2}",
          work.id(),
          died,
          stored.get().attempted());
      return false;
    }
    // Recorded before it begins, because it may end the agent.
    Capture begun = stored.get().withAttempts(died + 1, now);
    begun.write(folder);
    AtomicReference<Capture> capture = new AtomicReference<>(begun);
    try {
      // Its agent died between the thaw and the end of their copy.
      new ImageCopy(folder.resolve(CriuImages.FOLDER), staging.resolve(ArtifactStage.CRIU))
          .run(node.parallel(), pulse::beat);
      ArtifactStage stage =
          new ArtifactStore(Objects.requireNonNull(path.getParent()), node.clock())
              .reopen(
                  staging, Objects.requireNonNull(path.getFileName()).toString(), begun.files());
      begins.set(stage);
      pulse.beat(Publication.limit(begun));
      long bytes = begun.files().values().stream().mapToLong(Long::longValue).sum();
      StepListener listener =
          new BeatingListener(StepListener.NONE, pulse, MoveStep.deadline(bytes));
      var unused =
          new Publication(
                  node,
                  work.containerId(),
                  stage,
                  node.threads(),
                  listener,
                  new StoreCalls(node.storeSilence()))
              .run(
                  begun,
                  saved -> {
                    capture.set(saved);
                    write(saved, folder);
                  });
    } catch (IOException | RuntimeException e) {
      // A disk that does not respond ends with the latter. A thread that was left behind writes
      // nothing: the next checkpoint has another capture.
      pulse.beat();
      Objects.requireNonNull(capture.get()).withAttempts(died, now).write(folder);
      throw e;
    }
    // Its operation, and so the object that would name it, may be gone.
    LOG.log(
        System.Logger.Level.WARNING,
        "Published the artifact of an interrupted checkpoint: artifact={0} operation={1}"
            + " requester={2}; if no object names it, import it or delete its directory",
        path,
        work.id(),
        work.owner());
    return true;
  }

  /** The keeper has dropped its copy by then: a successor must find the device memory in files. */
  private static void write(Capture saved, Path folder) {
    try {
      saved.write(folder);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot record the capture in " + folder, e);
    }
  }
}
