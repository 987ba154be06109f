package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.operation.Claim;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Takes operations for this agent: first in the API server, then on the disk, then in hand. */
final class Claims {

  private final AgentParts parts;
  private final OperationJournal journal;

  Claims(AgentParts parts, OperationJournal journal) {
    this.parts = parts;
    this.journal = journal;
  }

  /**
   * Takes one; empty when it is over, or was over before it began. One that is over but has left
   * its workload frozen is taken as such, since a workload may be woken by any agent.
   *
   * @param unwanted whether nobody wants it any more
   */
  Optional<Assignment> take(GpuNodeOperation seen, boolean unwanted) throws ApiUnreachable {
    GpuNodeOperation operation = seen;
    // What was heard of a claim may be of before its end: only what is there now counts.
    boolean fresh = false;
    while (true) {
      GpuNodeOperationStatus status =
          Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new);
      OperationPhase phase = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
      boolean claimed = status.getClaimedBy() != null;
      if (phase.isFinal()) {
        if (!claimed || !JournalEntry.leftFrozen(operation.getSpec(), status)) {
          return Optional.empty();
        }
        if (fresh) {
          return Optional.of(adopt(operation, status, JournalEntry.Stage.ENDED));
        }
      }
      if (claimed && fresh) {
        return Optional.of(adopt(operation, status));
      }
      Instant time = parts.clock().instant().truncatedTo(ChronoUnit.SECONDS);
      if (!claimed) {
        fill(operation, status, time, unwanted);
      }
      operation.setStatus(status);
      Operations.Written written =
          claimed ? new Operations.Written.Conflict() : parts.operations().writeStatus(operation);
      if (written instanceof Operations.Written.Done done) {
        return unwanted ? Optional.empty() : Optional.of(journalled(done.operation(), time));
      }
      if (written instanceof Operations.Written.Gone) {
        return Optional.empty();
      }
      if (written instanceof Operations.Written.Failed failed) {
        throw new ApiUnreachable(failed.why(), new IllegalStateException(failed.why()));
      }
      Optional<GpuNodeOperation> again = parts.operations().find(operation.getMetadata().getName());
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

  private Assignment journalled(GpuNodeOperation operation, Instant now) {
    JournalEntry entry = entry(operation, parts.engine().bootId(), now, JournalEntry.Stage.CLAIMED);
    journal.write(entry);
    return new Assignment(parts.clock(), entry, operation.getStatus()).tracedAs(operation);
  }

  /**
   * One that was claimed by an agent whose journal is not there: in another boot, or it died in
   * between. An entry is written before anything is begun, so without one nothing was.
   */
  private Assignment adopt(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    Claim claim = Objects.requireNonNull(status.getClaimedBy());
    String here = parts.engine().bootId();
    String bootId = Objects.requireNonNullElse(claim.bootId(), here);
    boolean fresh = bootId.equals(here) && status.getPhase() == OperationPhase.CLAIMED;
    return adopt(operation, status, fresh ? JournalEntry.Stage.CLAIMED : JournalEntry.Stage.BEGUN);
  }

  private Assignment adopt(
      GpuNodeOperation operation, GpuNodeOperationStatus status, JournalEntry.Stage stage) {
    Claim claim = Objects.requireNonNull(status.getClaimedBy());
    String bootId = Objects.requireNonNullElse(claim.bootId(), parts.engine().bootId());
    JournalEntry entry = entry(operation, bootId, claim.time(), stage);
    journal.write(entry);
    return new Assignment(parts.clock(), entry, status).tracedAs(operation);
  }

  private static JournalEntry entry(
      GpuNodeOperation operation, String bootId, Instant claimed, JournalEntry.Stage stage) {
    return new JournalEntry(
        JournalEntry.FORMAT,
        bootId,
        operation.getMetadata().getName(),
        operation.getMetadata().getUid(),
        Instant.parse(operation.getMetadata().getCreationTimestamp()),
        claimed,
        operation.getSpec(),
        stage,
        operation.getStatus());
  }
}
