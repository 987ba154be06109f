package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The artifacts of a migration, of which nobody has any use when it is over. */
final class Leftovers {

  /**
   * Before an order that failed is given anew: soon the first time, since it is mostly a matter of
   * who saw what first, and later and later.
   */
  private static final Duration FIRST = Duration.ofSeconds(1);

  private static final int SLOWEST = 30;

  /** What is to be done about them; empty: nothing more. */
  Optional<Next> next(View view, MigrationPhase phase) {
    Optional<ArtifactStatus> ofSource = view.artifact();
    Optional<Next> first =
        ofSource.flatMap(
            artifact -> delete(view, Work.OF_SOURCE, artifact, view.sourceAgent(), phase));
    if (first.isPresent()) {
      return first;
    }
    return view.isShared()
        ? Optional.empty()
        : view.arrived()
            .flatMap(artifact -> delete(view, Work.OF_TARGET, artifact, view.targetAgent(), phase));
  }

  private static Optional<Next> delete(
      View view,
      int number,
      ArtifactStatus artifact,
      Optional<AgentState> agent,
      MigrationPhase phase) {
    Optional<OperationView> given = view.work().of(OperationType.DELETE_ARTIFACT, number);
    if (given.map(OperationView::isFinal).orElse(false)
        || agent.map(AgentState::isAway).orElse(true)) {
      // An agent that comes back removes what belongs to no object.
      return Optional.empty();
    }
    if (given.isEmpty()) {
      return Optional.of(new Next.Delete(number, artifact, agent.orElseThrow().node()));
    }
    return Optional.of(
        new Next.Wait(
            phase,
            Reason.IN_PROGRESS,
            "the artifact on node " + agent.orElseThrow().node() + " is deleted"));
  }

  /** Whether an order that failed may be given anew. */
  static boolean isDue(OperationView failed, Instant now) {
    List<PhaseTime<OperationPhase>> phases =
        Objects.requireNonNullElse(failed.status().getPhases(), List.of());
    if (phases.isEmpty()) {
      return true;
    }
    Instant end = phases.get(phases.size() - 1).time();
    return !end.plus(FIRST.multipliedBy(Math.min(SLOWEST, Work.number(failed)))).isAfter(now);
  }
}
