package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.Unmet;
import dev.stasis.artifact.ArtifactStage;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a checkpoint ended. */
public sealed interface CheckpointOutcome {

  /** The artifact is published and the workload runs on. */
  record Published(ArtifactStage.SealedArtifact artifact, Figures figures)
      implements CheckpointOutcome {}

  /**
   * The artifact is published; the workload stands still until {@link Evicted#end} or {@link Thaw}.
   * Nothing but the caller's word ends it.
   */
  record Held(ArtifactStage.SealedArtifact artifact, Figures figures, String containerId)
      implements CheckpointOutcome {}

  /**
   * The workload is in host memory, its GPU memory is free.
   *
   * @param artifact what was published besides; null where no store was asked for
   */
  record Suspended(
      long freedBytes,
      Figures figures,
      String containerId,
      ArtifactStage.@Nullable SealedArtifact artifact)
      implements CheckpointOutcome {}

  /** Something rules the checkpoint out; nothing was touched. */
  record Refused(List<Unmet> unmet) implements CheckpointOutcome {
    public Refused {
      unmet = List.copyOf(unmet);
    }
  }

  /**
   * It failed and was undone, or could not be undone: {@code source} says which.
   *
   * @param step the step that failed
   */
  record Failed(String step, Reason reason, String message, SourceState source, Figures figures)
      implements CheckpointOutcome {}

  /**
   * Figures of a run.
   *
   * @param timings each step's time
   * @param frozen how long the workload stood still; zero when it was never frozen or still is
   * @param path how the memory went, and why
   * @param gpuBytes device memory of the workload
   */
  record Figures(StepTimings timings, Duration frozen, String path, long gpuBytes) {}
}
