package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.artifact.ArtifactStage;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outcome of a checkpoint. */
public sealed interface CheckpointOutcome {

  /** The artifact is published and the workload runs. */
  record Published(ArtifactStage.SealedArtifact artifact, Figures figures)
      implements CheckpointOutcome {}

  /**
   * The artifact is published; the workload is frozen until {@link Evicted#end} or {@link Thaw}.
   * Only the caller can end it.
   */
  record Held(ArtifactStage.SealedArtifact artifact, Figures figures, String containerId)
      implements CheckpointOutcome {}

  /**
   * The workload is in host memory, its GPU memory is free.
   *
   * @param artifact the artifact that was also published; null without a store
   */
  record Suspended(
      long freedBytes,
      Figures figures,
      String containerId,
      ArtifactStage.@Nullable SealedArtifact artifact)
      implements CheckpointOutcome {}

  /** A requirement is not met; nothing was changed. */
  record Refused(List<FailedRequirement> unmet) implements CheckpointOutcome {
    public Refused {
      unmet = List.copyOf(unmet);
    }
  }

  /**
   * It failed and was undone, or could not be undone: see {@code source}.
   *
   * @param step the step that failed
   * @param artifact the complete artifact of a workload that may never run again; else null
   */
  record Failed(
      String step,
      Reason reason,
      String message,
      SourceState source,
      Figures figures,
      ArtifactStage.@Nullable SealedArtifact artifact)
      implements CheckpointOutcome {}

  /**
   * Figures of a run.
   *
   * @param timings duration of each step
   * @param frozen the freeze time; zero if it was never frozen or still is
   * @param path the data path, and why
   * @param gpuBytes device memory of the workload
   */
  record Figures(StepTimings timings, Duration frozen, String path, long gpuBytes) {}
}
