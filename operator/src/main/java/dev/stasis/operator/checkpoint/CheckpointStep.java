package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** One step of a GpuCheckpoint: what it is current for, and what is done then. */
final class CheckpointStep extends Step<Turn, CheckpointPhase> {

  private final Predicate<Turn> current;
  private final Consumer<Turn> act;
  private final Duration longestWait;
  private final String undoes;

  /**
   * @param current whether the step is the current one; of one list it is one at most
   * @param act what is done then; it reports the step in the status
   * @param longestWait between two observations that nothing triggers
   * @param undoes what a deletion or a cancel does, for the documentation
   */
  CheckpointStep(
      String name,
      List<CheckpointPhase> phases,
      Timeout timeout,
      Predicate<Turn> current,
      Consumer<Turn> act,
      Duration longestWait,
      String undoes) {
    super(name, phases, timeout);
    this.current = current;
    this.act = act;
    this.longestWait = longestWait;
    this.undoes = undoes;
  }

  @Override
  protected Progress observe(Turn turn) {
    return current.test(turn) ? Progress.Due.of(() -> act.accept(turn)) : new Progress.Done();
  }

  @Override
  public Duration longestWait() {
    return longestWait;
  }

  @Override
  public String undoes() {
    return undoes;
  }
}
