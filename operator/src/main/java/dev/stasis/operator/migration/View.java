package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * All that is seen in one look at one GpuMigration.
 *
 * @param migration the object, with a status
 * @param check what is known of the source; asked as long as nothing is frozen
 * @param source the pod that is moved: once it is known, that one and no other of its name
 * @param target the pod that was made for it
 * @param work the orders
 * @param sourceAgent of the source's node; empty while that is not known
 * @param targetAgent of the target's node; empty while it has none
 * @param places where it could go; empty while nobody has said what it needs
 * @param store through which it goes
 * @param turn why it has to wait for others; empty: it has not
 * @param owner the controller that is to take the target before the source goes; empty: none is
 * @param orphanAfter how long an agent has to be silent before nobody waits for it
 * @param now when it was looked
 */
record View(
    GpuMigration migration,
    Check check,
    Optional<Pod> source,
    Optional<Pod> target,
    Work work,
    Optional<AgentState> sourceAgent,
    Optional<AgentState> targetAgent,
    Optional<NodeVerdicts> places,
    Optional<GpuCheckpointStore> store,
    Optional<String> turn,
    Optional<OwnerReference> owner,
    Duration orphanAfter,
    Instant now) {

  GpuMigrationStatus status() {
    return migration.getStatus();
  }

  MigrationPhase phase() {
    return Objects.requireNonNullElse(status().getPhase(), MigrationPhase.PENDING);
  }

  /** Which copy is the one; empty as long as nobody has decided. */
  Optional<Decision> decision() {
    return Optional.ofNullable(status().getCommitment()).map(it -> it.decision());
  }

  /** When the phase was entered in which it is; that of its creation before the first. */
  Instant entered() {
    List<PhaseTime<MigrationPhase>> phases =
        Objects.requireNonNullElse(status().getPhases(), List.of());
    return phases.isEmpty()
        ? Instant.parse(migration.getMetadata().getCreationTimestamp())
        : phases.get(phases.size() - 1).time();
  }

  /** When it was decided which copy is the one. */
  Instant decided() {
    return Objects.requireNonNull(status().getCommitment(), "it was decided").time();
  }

  /** Whether its user wants it undone; deleting it while it is at work means that too. */
  boolean isCancelled() {
    return Boolean.TRUE.equals(migration.getSpec().getCancel())
        || migration.getMetadata().getDeletionTimestamp() != null;
  }

  /** When all of it has to be done. */
  Instant deadline() {
    return Instant.parse(migration.getMetadata().getCreationTimestamp())
        .plus(migration.getSpec().getDeadline().duration());
  }

  /** What is left of it, for an order. */
  TimeSpan left() {
    return TimeSpan.of(Math.max(1, Duration.between(now, deadline()).toSeconds()) + "s");
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

  /** Whether the target has the GPUs that it takes. */
  Optional<OperationView> fit() {
    return work.fit(Math.max(1, attempts()));
  }

  /** Since when the workload stands still. */
  Optional<Instant> frozenSince() {
    return work.freeze().map(OperationView::status).map(GpuNodeOperationStatus::getFrozenTime);
  }

  /** When whoever watches the workload would end it. */
  Optional<Instant> frozenUntil() {
    Optional<Duration> longest =
        work.freeze()
            .map(view -> view.operation().getSpec().getFreeze())
            .map(FreezeOrder::getMaxFrozen)
            .map(TimeSpan::duration);
    return frozenSince().flatMap(since -> longest.map(since::plus));
  }

  /** The artifact on the node of the source, once it is safe. */
  Optional<ArtifactStatus> artifact() {
    return work.freeze().flatMap(OperationView::artifact);
  }

  /** Whether both nodes reach it, so that it needs not be sent. */
  boolean isShared() {
    return artifact().map(it -> it.getNode() == null).orElse(false);
  }

  /** The artifact as the target's node reaches it, once it is there. */
  Optional<ArtifactStatus> arrived() {
    if (isShared()) {
      return artifact();
    }
    // The receiver has compared it with its digest, but for one that was not made yet.
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
   * That the frozen workload cannot be thawed any more, since it is not there or is about to be
   * ended; empty: it is as it was frozen, or nobody has frozen it.
   */
  Optional<String> sourceLost() {
    ObservedPod known = status().getSource();
    if (known == null || work.freeze().isEmpty()) {
      return Optional.empty();
    }
    String name = "pod " + known.name();
    if (isGoneWithItsNode()) {
      return Optional.of(name + ": wanted the frozen one, found its node started anew");
    }
    if (source.isEmpty()) {
      return Optional.of(name + ": wanted the frozen one, found it gone");
    }
    if (source.get().getMetadata().getDeletionTimestamp() != null) {
      return Optional.of(
          name + ": wanted that it stays until the target is proven, found it deleted");
    }
    String container = Objects.requireNonNullElse(known.container(), "");
    Optional<String> frozen =
        work.freeze()
            .map(view -> view.status().getContainerId())
            .or(() -> work.look().map(view -> view.status().getContainerId()));
    Optional<String> now =
        source.get().getStatus().getContainerStatuses().stream()
            .filter(it -> container.equals(it.getName()))
            .findFirst()
            .flatMap(View::id);
    if (frozen.isEmpty() || now.isEmpty() || now.get().endsWith(plain(frozen.get()))) {
      return Optional.empty();
    }
    return Optional.of(
        "%s container %s: wanted %s, which was frozen, found %s"
            .formatted(name, container, plain(frozen.get()), now.get()));
  }

  /** Whether the artifact is safe and the source stands still, or is lost since. */
  boolean isHeld() {
    return work.freeze().filter(view -> view.phase() == OperationPhase.HELD).isPresent()
        || (artifact().isPresent() && isGoneWithItsNode());
  }

  /** Whether the node of the source was started anew, and the workload is gone with its memory. */
  private boolean isGoneWithItsNode() {
    return work.freeze()
        .flatMap(OperationView::outcome)
        .filter(it -> it == Outcome.LOST)
        .isPresent();
  }

  private static Optional<String> id(ContainerStatus status) {
    boolean ended = status.getState() != null && status.getState().getTerminated() != null;
    return ended ? Optional.of("that it ended") : Optional.ofNullable(status.getContainerID());
  }

  private static String plain(String id) {
    return id.substring(id.lastIndexOf('/') + 1);
  }
}
