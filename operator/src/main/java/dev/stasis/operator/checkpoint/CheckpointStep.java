package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.util.List;

/** A step of a GpuCheckpoint. What it waits for is polled at the usual interval. */
abstract class CheckpointStep extends Step<CheckpointContext, CheckpointPhase> {

  /** The default of {@code lookAgainEvery}, for the documentation. */
  private static final Duration POLL = Duration.ofSeconds(15);

  protected CheckpointStep(String name, List<CheckpointPhase> phases, Timeout timeout) {
    super(name, phases, timeout);
  }

  @Override
  public Duration longestWait() {
    return POLL;
  }
}
