package dev.stasis.agent.daemon.operation;

import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Claims operations for this agent: first in the API server, then in memory. */
final class Claims {

  private static final System.Logger LOG = System.getLogger(Claims.class.getName());

  private final AgentParts parts;

  Claims(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Claims an operation; empty if it is finished, or was canceled before it started. A finished one
   * that has left its workload frozen is claimed as such, because any agent may thaw the workload.
   * One with values of a newer release waits for a newer agent.
   *
   * @param unwanted whether it has been deleted or canceled
   */
  Optional<ActiveOperation> take(GpuNodeOperation seen, boolean unwanted) throws ApiUnreachable {
    GpuNodeOperation operation = seen;
    // The notification may be older than the operation's end: only the current state counts.
    boolean fresh = false;
    while (true) {
      List<String> newer = UnrecognizedValues.in(operation);
      if (!newer.isEmpty()) {
        LOG.log(
            Level.WARNING,
            "{0} is left alone: {1}: expected a value that this agent knows, got one of a newer"
                + " release; upgrade the agent of this node",
            operation.getMetadata().getName(),
            String.join(", ", newer));
        return Optional.empty();
      }
      GpuNodeOperationStatus status =
          Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new);
      OperationPhase phase = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
      boolean claimed = status.getClaimedBy() != null;
      if (phase.isFinal()
          && (!claimed || !ActiveOperation.leftFrozen(operation.getSpec(), status))) {
        return Optional.empty();
      }
      if (claimed && fresh) {
        // Whether it was started shows in the journal of its container and in the workload itself.
        return Optional.of(ActiveOperation.recovered(parts.clock(), operation));
      }
      Instant time = parts.clock().instant().truncatedTo(ChronoUnit.SECONDS);
      if (!claimed) {
        fill(operation, status, time, unwanted);
      }
      operation.setStatus(status);
      ClusterApi.Written written =
          claimed ? new ClusterApi.Written.Conflict() : parts.cluster().writeStatus(operation);
      if (written instanceof ClusterApi.Written.Done done) {
        return unwanted
            ? Optional.empty()
            : Optional.of(
                new ActiveOperation(parts.clock(), done.operation(), OperationStage.CLAIMED));
      }
      if (written instanceof ClusterApi.Written.Gone) {
        return Optional.empty();
      }
      if (written instanceof ClusterApi.Written.Failed failed) {
        throw new ApiUnreachable(failed.why(), new IllegalStateException(failed.why()));
      }
      Optional<GpuNodeOperation> again =
          parts.cluster().operation(operation.getMetadata().getName());
      if (again.isEmpty()
          || !again.get().getMetadata().getUid().equals(seen.getMetadata().getUid())) {
        return Optional.empty();
      }
      operation = again.get();
      fresh = true;
    }
  }

  private void fill(
      GpuNodeOperation operation, GpuNodeOperationStatus status, Instant now, boolean unwanted) {
    List<PhaseTime<OperationPhase>> phases = new ArrayList<>();
    phases.add(
        new PhaseTime<>(
            OperationPhase.PENDING, Instant.parse(operation.getMetadata().getCreationTimestamp())));
    if (unwanted) {
      phases.add(new PhaseTime<>(OperationPhase.CANCELLED, now));
      status.setPhase(OperationPhase.CANCELLED);
      status.setOutcome(Outcome.UNDONE);
      status.setReason("Cancelled");
      status.setMessage("cancelled before an agent claimed it");
    } else {
      phases.add(new PhaseTime<>(OperationPhase.CLAIMED, now));
      status.setPhase(OperationPhase.CLAIMED);
      status.setClaimedBy(new Claim(parts.agentId(), parts.engine().bootId(), now));
    }
    status.setPhases(phases);
  }
}
