package dev.stasis.agent.engine;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the artifact of a checkpoint whose agent ended between the complete capture and the
 * publication. The workload may run by then.
 */
public final class InterruptedPublication {

  private static final System.Logger LOG = System.getLogger(InterruptedPublication.class.getName());

  private final NodeParts node;

  InterruptedPublication(NodeParts node) {
    this.node = node;
  }

  /**
   * Returns whether the capture of an operation is complete, so that its artifact may be published.
   * Without reading a store, which may not answer while the workload is frozen.
   */
  public boolean isCaptured(Work work) {
    return Capture.exists(node.journal().folderOf(work.containerId()));
  }

  /**
   * Publishes the artifact of a recorded operation, as a whole or not at all. A second attempt has
   * no effect.
   *
   * @return whether it is published; not if there is no complete capture, or a part of it is
   *     missing or has changed
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
          && publish(now.get());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "Cannot publish the artifact of " + work.id(), e);
      return false;
    }
  }

  private boolean publish(Work work) throws IOException, InterruptedException {
    @Nullable String staging = work.artifactStage();
    @Nullable String target = work.artifact();
    if (staging == null || target == null) {
      return false;
    }
    Optional<Capture> capture = Capture.take(node.journal().folderOf(work.containerId()));
    if (capture.isEmpty()) {
      return false;
    }
    Path path = Path.of(target);
    ArtifactStage stage =
        new ArtifactStore(Objects.requireNonNull(path.getParent()), node.clock())
            .reopen(
                Path.of(staging),
                Objects.requireNonNull(path.getFileName()).toString(),
                capture.get().files());
    ArtifactStage.SealedArtifact sealed =
        new Publication(node, work.containerId(), stage, node.threads(), StepListener.NONE)
            .run(capture.get(), saved -> {});
    LOG.log(
        System.Logger.Level.INFO,
        "Artifact {0} published for an agent that ended before that: {1}",
        sealed.path(),
        work.id());
    return true;
  }
}
