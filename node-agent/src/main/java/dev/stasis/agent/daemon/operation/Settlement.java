package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.Look;
import dev.stasis.agent.engine.ProvenProcess;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.Afterwards;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Settles an operation in whose middle an agent died: what the world looks like and the engine's
 * journal say what there is, and nothing is believed that is not looked at.
 */
final class Settlement {

  private static final System.Logger LOG = System.getLogger(Settlement.class.getName());

  /**
   * A workload that stands still is worth more than one try: what the dead agent's helpers still
   * held, or a busy machine, may be why the first one failed. Each of them has its own deadlines.
   */
  private static final int THAWS = 3;

  private final AgentParts parts;

  Settlement(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Brings a freeze or a restore to an end.
   *
   * @param why why it is not simply gone on with, for the fault
   */
  Ending of(Assignment assignment, String reason, String why) throws InterruptedException {
    Optional<Work> work =
        parts.engine().thaw().inHand().stream()
            .filter(one -> one.id().equals(assignment.uid()))
            .findFirst();
    Fault fault = Faults.inStep(reason, step(assignment), why);
    return assignment.type() == OperationType.RESTORE
        ? restore(assignment, work, fault)
        : freeze(assignment, work, fault);
  }

  /** Brings what was held back to running. */
  Ending thawed(Assignment assignment, String reason, String why) throws InterruptedException {
    Optional<Work> work =
        parts.engine().thaw().inHand().stream()
            .filter(one -> one.id().equals(assignment.uid()))
            .findFirst();
    String container = container(assignment, work);
    if (work.isPresent()) {
      thaw(work.get());
    }
    Look.Seen seen = parts.engine().look().at(container);
    return undone(Faults.inStep(reason, "held", why), seen.state(), seen.processes());
  }

  private static String step(Assignment assignment) {
    return Objects.requireNonNullElse(assignment.report().copy().getStep(), "begin");
  }

  private Ending restore(Assignment assignment, Optional<Work> work, Fault fault)
      throws InterruptedException {
    String container = container(assignment, work);
    boolean ends = false;
    if (work.isPresent()) {
      ends = work.get().phase() != Work.Phase.PUBLISHING;
      thaw(work.get());
    }
    Optional<List<ProvenProcess>> proven =
        ends ? Optional.empty() : parts.engine().look().proven(container);
    if (proven.isPresent()) {
      long bytes = proven.get().stream().mapToLong(ProvenProcess::gpuBytes).sum();
      return new RestoreEnding(parts.clock()).proven(proven.get(), bytes);
    }
    return Ending.failed(Outcome.UNDONE, fault).leaving(WorkloadState.ENDED, null, null);
  }

  private Ending freeze(Assignment assignment, Optional<Work> work, Fault fault)
      throws InterruptedException {
    boolean resumes = order(assignment) == Afterwards.RESUME;
    if (work.isEmpty()) {
      Look.Seen seen = parts.engine().look().at(container(assignment, work));
      return resumes && seen.state().kind() == SourceState.Kind.RUNNING
          ? published(assignment, Work.Phase.PUBLISHING)
              .map(artifact -> resumed(artifact, seen.processes()))
              .orElseGet(() -> undone(fault, seen.state(), seen.processes()))
          : undone(fault, seen.state(), seen.processes());
    }
    Work found = work.get();
    boolean ofThisBoot = found.bootId().equals(parts.engine().bootId());
    if (ofThisBoot && found.phase() == Work.Phase.SUSPENDED) {
      Optional<Ending> suspended = suspended(assignment, found.phase());
      if (suspended.isPresent()) {
        return suspended.get();
      }
    }
    if (ofThisBoot && found.after() == After.EVICT && found.phase() != Work.Phase.ENDING) {
      Optional<ArtifactStatus> artifact = published(assignment, found.phase());
      boolean mayRunElsewhere = found.phase() == Work.Phase.HELD && isHeldUntilDecided(assignment);
      boolean holds =
          (artifact.isPresent() || mayRunElsewhere)
              && parts.engine().evicted().hold(found.containerId());
      if (holds || mayRunElsewhere) {
        return held(artifact);
      }
    }
    Optional<ArtifactStatus> artifact =
        found.phase() == Work.Phase.PUBLISHING
            ? published(assignment, found.phase())
            : Optional.empty();
    SourceState state = thaw(found);
    int processes = parts.engine().look().at(found.containerId()).processes();
    return resumes && artifact.isPresent() && state.kind() == SourceState.Kind.RUNNING
        ? resumed(artifact.get(), processes)
        : undone(fault, state, processes);
  }

  private static Afterwards order(Assignment assignment) {
    if (assignment.type() == OperationType.SUSPEND || assignment.spec().getFreeze() == null) {
      return Afterwards.SUSPEND;
    }
    return assignment.spec().getFreeze().getAfterwards();
  }

  private static String container(Assignment assignment, Optional<Work> work) {
    return work.map(Work::containerId)
        .orElseGet(
            () ->
                Objects.requireNonNullElse(
                    assignment.report().copy().getContainerId(), "none-was-found"));
  }

  private SourceState thaw(Work work) throws InterruptedException {
    SourceState state = thawOnce(work);
    for (int more = 1; more < THAWS && state.kind() == SourceState.Kind.FROZEN; more++) {
      state = thawOnce(work);
    }
    return state;
  }

  private SourceState thawOnce(Work work) throws InterruptedException {
    ThawOutcome outcome = parts.engine().thaw().run(work.id(), StepListener.NONE);
    LOG.log(System.Logger.Level.INFO, "thaw of {0} for {1}: {2}", work.id(), work.owner(), outcome);
    return outcome instanceof ThawOutcome.Ended ended
        ? ended.state()
        : new SourceState(SourceState.Kind.UNKNOWN, ((ThawOutcome.NotFound) outcome).why());
  }

  private Optional<Ending> suspended(Assignment assignment, Work.Phase phase) {
    Ending ending =
        Ending.done("Suspended", "the workload is in memory")
            .leaving(WorkloadState.SUSPENDED, Truth.FALSE, null);
    if (assignment.spec().getArtifact() == null) {
      return Optional.of(ending);
    }
    return published(assignment, phase)
        .map(artifact -> ending.with(status -> status.setArtifact(artifact)));
  }

  private static boolean isHeldUntilDecided(Assignment assignment) {
    return assignment.spec().getFreeze() != null
        && assignment.spec().getFreeze().getHeldUntilDecided();
  }

  private static Ending held(Optional<ArtifactStatus> artifact) {
    return new Ending(
        OperationPhase.HELD,
        null,
        "Held",
        "the artifact is safe; the workload stands still until Thaw or End",
        List.of(),
        WorkloadState.FROZEN,
        Truth.FALSE,
        null,
        status -> artifact.ifPresent(status::setArtifact));
  }

  private static Ending resumed(ArtifactStatus artifact, int processes) {
    return Ending.done("Resumed", artifact.getSize() + " saved; " + processes + " processes run")
        .leaving(WorkloadState.RUNNING, Truth.TRUE, processes)
        .with(status -> status.setArtifact(artifact));
  }

  private static Ending undone(Fault fault, SourceState state, int processes) {
    Outcome outcome =
        switch (state.kind()) {
          case RUNNING -> Outcome.UNDONE;
          case GONE -> Outcome.LOST;
          case FROZEN, UNKNOWN -> Outcome.NOT_UNDONE;
        };
    return Ending.failed(outcome, fault)
        .leaving(FreezeEnding.workload(state), FreezeEnding.running(state), processes);
  }

  /**
   * Returns the artifact that this operation has published. Its bytes are read once more only
   * before the first end of the operation: what is held or suspended was digested in this boot, and
   * its workload stays frozen for as long as the reading takes.
   */
  private Optional<ArtifactStatus> published(Assignment assignment, Work.Phase phase) {
    ArtifactReference reference = assignment.spec().getArtifact();
    if (reference == null) {
      return Optional.empty();
    }
    try {
      ArtifactPlace place = new ArtifactPlaces(parts.stores()).of(reference, reference.namespace());
      int threads = Math.max(1, Runtime.getRuntime().availableProcessors());
      ArtifactReader reader = new ArtifactReader(threads, (done, total) -> {});
      boolean digested = phase == Work.Phase.HELD || phase == Work.Phase.SUSPENDED;
      Opened opened =
          digested
              ? reader.whole(place.path(), null)
              : reader.open(place.path(), ArtifactReader.Regions.NOW, null);
      if (opened instanceof Opened.Verified verified
          && reference.uid().equals(verified.artifact().manifest().origin().id())) {
        return Optional.of(
            new ArtifactWords(parts.nodeName(), place.nodeLocal())
                .of(reference, verified.artifact().manifest(), verified.artifact().sha256()));
      }
    } catch (IOException | Refused e) {
      LOG.log(System.Logger.Level.WARNING, "artifact of " + assignment.name(), e);
    }
    return Optional.empty();
  }
}
