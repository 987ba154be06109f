package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.workflow.RequestContext;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The observed state of one GpuMigration.
 *
 * @param migration the object, with a status
 * @param check the state of the source; read while nothing is frozen
 * @param source the pod to move; once it is known, exactly that pod
 * @param target the pod that was created for it
 * @param sourceAgent agent of the source's node; empty while unknown
 * @param targetAgent agent of the target's node; empty while there is none
 * @param places the possible nodes; empty while the requirements are unknown
 * @param excludedNodes nodes that are excluded for a target
 * @param turn why it must wait for other migrations; empty if it need not
 * @param owner the controller that must adopt the target before the source is removed; empty if
 *     there is none
 * @param sourceFirst the objects of a migration with strategy Recreate
 * @param orphanAfter how long an agent must be silent before requests stop waiting for it
 * @param now time of the observation
 */
record MigrationContext(
    GpuMigration migration,
    Check check,
    Optional<Pod> source,
    Optional<Pod> target,
    Work work,
    Optional<NodeAgent> sourceAgent,
    Optional<NodeAgent> targetAgent,
    Optional<NodeVerdicts> places,
    Set<String> excludedNodes,
    Optional<String> turn,
    Optional<OwnerReference> owner,
    SourceFirstState sourceFirst,
    Duration orphanAfter,
    Instant now)
    implements RequestContext<MigrationPhase> {

  @Override
  public GpuMigration object() {
    return migration;
  }

  @Override
  public GpuMigrationStatus status() {
    return migration.getStatus();
  }

  MigrationStatusUpdater updater() {
    return new MigrationStatusUpdater(migration, now);
  }

  /** Returns the status updater of a migration with strategy Recreate. */
  SourceFirstStatusUpdater sourceFirstUpdater() {
    return new SourceFirstStatusUpdater(migration, now);
  }

  /** Returns the source, which a step before has found to be movable. */
  Check.Admitted admitted() {
    return (Check.Admitted) check;
  }

  @Override
  public MigrationPhase phase() {
    return CurrentPhase.of(migration);
  }

  @Override
  public @Nullable String operationName() {
    return status().getSourceOperation();
  }

  @Override
  public boolean isCancelRequested() {
    return Boolean.TRUE.equals(migration.getSpec().getOptions().getCancel());
  }

  @Override
  public boolean hasFailed() {
    return decision().filter(it -> it == Decision.ROLL_BACK).isPresent();
  }

  /** Returns whether the source was chosen to survive: a cancel leads to that decision. */
  @Override
  public boolean isUndone() {
    return hasFailed();
  }

  /** Returns whether the source may be frozen or gone, or a decision was made. */
  boolean isTouched() {
    return work.freeze().isPresent() || status().getCheckpoint() != null || decision().isPresent();
  }

  /** The surviving copy; empty before the decision. */
  Optional<Decision> decision() {
    return Optional.ofNullable(status().getCommitment()).map(it -> it.decision());
  }

  /** Returns whether it was decided which copy survives. */
  boolean isDecided() {
    return decision().isPresent();
  }

  /** The time of the decision. */
  Instant decided() {
    return Objects.requireNonNull(status().getCommitment(), "the decision was made").time();
  }

  /** The deadline of the migration. */
  Instant deadline() {
    return Instant.parse(migration.getMetadata().getCreationTimestamp())
        .plus(migration.getSpec().getOptions().getDeadline().duration());
  }

  /**
   * The remaining time, for an operation. Once only the artifact is left, an operation has as much
   * as a whole migration: an end for lack of time would lose the workload.
   */
  TimeSpan left() {
    if (!isOnlyArtifactLeft()) {
      return TimeSpan.of(Duration.between(now, deadline()));
    }
    TimeSpan whole = migration.getSpec().getOptions().getDeadline();
    return whole.duration().compareTo(Operations.WAY_BACK.duration()) > 0
        ? whole
        : Operations.WAY_BACK;
  }

  int attempts() {
    return Objects.requireNonNullElse(status().getAttempts(), 0);
  }

  List<Fault> faults() {
    return Objects.requireNonNullElse(status().getFaults(), List.of());
  }

  Optional<OperationView> restore() {
    return work.of(OperationType.RESTORE, Math.max(1, attempts()));
  }

  /** Whether the target has the required GPUs. */
  Optional<OperationView> fit() {
    return work.fit(Math.max(1, attempts()));
  }

  /** Returns the container of the workload; empty while unknown. */
  String container() {
    ObservedPod source = status().getSource();
    return source == null ? "" : Objects.requireNonNullElse(source.container(), "");
  }

  /** Returns whether the agent of the source is no longer waited for after the decision. */
  boolean isSourceGivenUp() {
    return sourceAgent.map(it -> it.isGivenUp(decided(), orphanAfter, now)).orElse(true);
  }

  /** Since when the workload is frozen. */
  Optional<Instant> frozenSince() {
    return work.freeze().map(OperationView::status).map(GpuNodeOperationStatus::getFrozenTime);
  }

  /** When a probe or deadline would end the workload. */
  Optional<Instant> frozenUntil() {
    Optional<Duration> longest =
        work.freeze()
            .map(view -> view.operation().getSpec().getFreeze())
            .map(FreezeOrder::getMaxFrozen)
            .map(TimeSpan::duration);
    return frozenSince().flatMap(since -> longest.map(since::plus));
  }

  /** The artifact on the node of the source, once it is complete. */
  Optional<ArtifactStatus> artifact() {
    return work.freeze().flatMap(OperationView::artifact);
  }

  /** Whether both nodes can access it, so that it need not be sent. */
  boolean isShared() {
    return artifact().map(it -> it.getNode() == null).orElse(false);
  }

  /** The artifact for the target's node, once it is there. */
  Optional<ArtifactStatus> arrived() {
    if (isShared()) {
      return artifact();
    }
    // The receiver has compared its digest, unless it did not exist yet.
    return work.last(OperationType.RECEIVE)
        .filter(OperationView::succeeded)
        .flatMap(OperationView::artifact)
        .filter(
            received ->
                artifact()
                    .filter(it -> Objects.equals(it.getSha256(), received.getSha256()))
                    .isPresent());
  }

  /**
   * Why the frozen workload cannot be thawed any more, because it is gone or about to be ended;
   * empty if it is frozen, or was never frozen.
   */
  Optional<String> sourceLost() {
    ObservedPod known = status().getSource();
    if (known == null || work.freeze().isEmpty()) {
      return Optional.empty();
    }
    String name = "pod " + known.name();
    if (isGoneWithItsNode()) {
      return Optional.of(name + ": expected the frozen pod, got a rebooted node");
    }
    if (source.isEmpty()) {
      return Optional.of(name + ": expected the frozen pod, got none");
    }
    if (source.get().getMetadata().getDeletionTimestamp() != null) {
      return Optional.of(
          name + ": expected a pod that exists until the target is verified, got a deleted one");
    }
    String container = Objects.requireNonNullElse(known.container(), "");
    Optional<String> frozen =
        work.freeze()
            .map(view -> view.status().getContainerId())
            .or(() -> work.look().map(view -> view.status().getContainerId()));
    Optional<String> now =
        new PodState(source.get()).container(container).flatMap(MigrationContext::id);
    if (frozen.isEmpty() || now.isEmpty() || now.get().endsWith(plain(frozen.get()))) {
      return Optional.empty();
    }
    return Optional.of(
        "%s container %s: expected the frozen one (%s), got %s"
            .formatted(name, container, plain(frozen.get()), now.get()));
  }

  /** Whether the source was saved and cannot be thawed any more: it can only be moved. */
  boolean isOnlyArtifactLeft() {
    return isHeld() && sourceLost().isPresent();
  }

  /** Whether the artifact is complete and the source is frozen, or was lost since. */
  boolean isHeld() {
    return work.freeze().filter(view -> view.phase() == OperationPhase.HELD).isPresent()
        || (artifact().isPresent() && isGoneWithItsNode());
  }

  /** Whether the node of the source rebooted, and the workload was lost with its memory. */
  private boolean isGoneWithItsNode() {
    return work.freeze().filter(it -> it.ended(Outcome.LOST)).isPresent();
  }

  private static Optional<String> id(ContainerStatus status) {
    boolean ended = status.getState() != null && status.getState().getTerminated() != null;
    return ended ? Optional.of("an ended one") : Optional.ofNullable(status.getContainerID());
  }

  private static String plain(String id) {
    return id.substring(id.lastIndexOf('/') + 1);
  }
}
