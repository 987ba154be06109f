package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import java.io.IOException;

/**
 * RetainArtifact: the artifact outlives its object, which is being deleted. The sweep may have read
 * before that the artifact goes with it. Succeeds if the artifact does not exist, and refuses that
 * of another object.
 */
final class RetainJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;

  RetainJob(AgentParts parts, OperationRecorder recorder) {
    this.parts = parts;
    this.recorder = recorder;
  }

  @Override
  public OperationResult run(ActiveOperation operation) throws Refused, IOException {
    ArtifactReference artifact = operation.artifact();
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact);
    if (!where.exists()) {
      return OperationResult.done(
          "ArtifactRetained", "there was no artifact at " + artifact.location());
    }
    where.requireDeletable();
    recorder.begin(operation);
    new SweepMark(where.path()).retain();
    return OperationResult.done(
        "ArtifactRetained", "artifact " + artifact.location() + " outlives its object");
  }
}
