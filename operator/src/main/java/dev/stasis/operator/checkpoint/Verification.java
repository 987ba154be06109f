package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Has stored artifacts read now and then, so that damage is known before an artifact is needed. One
 * at a time on each node.
 */
final class Verification {

  /** Damage may have been repaired, or an unmounted file system mounted again. */
  private static final Duration DAMAGED_AGAIN = Duration.ofDays(1);

  /** A store that could not be read is often back soon; nothing waits for it. */
  private static final Duration FAILED_AGAIN = Duration.ofHours(1);

  /** Checkpoints that wait for a node ask for it at different times. */
  private static final int BUSY_AGAIN_SECONDS = 300;

  private final Orders orders;
  private final Places places;

  Verification(Orders orders, Places places) {
    this.orders = orders;
    this.places = places;
  }

  /** Continues the verification of the artifact in the status, or begins it when it is due. */
  void next(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    if (artifact == null || artifact.getSha256() == null) {
      return;
    }
    Optional<OperationView> found = Frozen.operation(turn, OperationType.VERIFY, 1);
    if (found.isPresent()) {
      follow(turn, found.get());
      return;
    }
    Duration every = turn.config().verifyEvery();
    // An upload reads every byte of the artifact, and of what is stored.
    boolean uploading = artifact.getDurability() != null && artifact.getNode() != null;
    Optional<Instant> next = due(turn, every);
    if (next.isEmpty() || uploading) {
      return;
    }
    Instant due = next.get();
    if (turn.now().isBefore(due)) {
      turn.againAt(due);
      return;
    }
    Optional<String> node = Farewell.reaching(turn, artifact);
    if (node.isEmpty() || isBusy(turn, node.get()) || !Resting.users(turn).isEmpty()) {
      turn.again(
          Duration.ofSeconds(
              BUSY_AGAIN_SECONDS + Math.floorMod(turn.uid().hashCode(), BUSY_AGAIN_SECONDS)));
      return;
    }
    turn.act(new Act.Create(orders.verify(turn, artifact, node.get())));
  }

  private Optional<Instant> due(Turn turn, Duration every) {
    Instant last = turn.status().getLastVerified();
    boolean again = places.isDamaged(turn) && every.compareTo(DAMAGED_AGAIN) > 0;
    Optional<Instant> usual =
        every.isZero()
            ? Optional.empty()
            : Optional.of(
                last == null ? ready(turn).plus(every) : last.plus(again ? DAMAGED_AGAIN : every));
    return Stream.concat(
            usual.stream(),
            Optional.ofNullable(turn.spec().getOptions().getVerifyAfter())
                .filter(wanted -> last == null || last.isBefore(wanted))
                .stream())
        .min(Comparator.naturalOrder());
  }

  /** A checkpoint and an import verify what they write. */
  private static Instant ready(Turn turn) {
    return turn.phases().stream()
        .filter(entered -> entered.phase() == CheckpointPhase.READY)
        .map(PhaseTime::time)
        .reduce((first, second) -> second)
        .orElse(turn.created());
  }

  private static boolean isBusy(Turn turn, String node) {
    return turn.cluster().operationsOf(node).stream()
        .map(OperationView::of)
        .anyMatch(view -> view.type() == OperationType.VERIFY && !view.isFinal());
  }

  private void follow(Turn turn, OperationView view) {
    if (view.isFinal()) {
      ended(turn, view);
      return;
    }
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    if (agent.isGivenUp(view.entered(), turn.config().orphanAfter(), turn.now())) {
      turn.act(new Act.Abandon(view));
    }
  }

  private void ended(Turn turn, OperationView view) {
    Instant end = view.entered();
    boolean isDamaged =
        !view.succeeded() && Reason.ARTIFACT_DAMAGED.value().equals(firstReason(view));
    if (!view.succeeded() && !isDamaged) {
      failed(turn, view, end);
      return;
    }
    if (end.equals(turn.status().getLastVerified())) {
      turn.act(new Act.Release(view));
      return;
    }
    boolean wasDamaged = places.isDamaged(turn);
    turn.status().setLastVerified(end);
    String said = Objects.requireNonNullElse(view.status().getMessage(), view.reason());
    if (isDamaged) {
      places.damaged(turn, said);
      turn.tell(true, Reason.ARTIFACT_DAMAGED, said, "damaged/" + end);
    } else if (wasDamaged) {
      places.whole(turn);
      turn.tell(false, Reason.ARTIFACT_VERIFIED, said, "whole/" + end);
    }
    turn.again(turn.config().progressEvery());
  }

  private static String firstReason(OperationView view) {
    return view.faults().isEmpty() ? view.reason() : view.faults().get(0).reason();
  }

  /** It is not known whether the artifact is whole. */
  private static void failed(Turn turn, OperationView view, Instant end) {
    Instant due = end.plus(FAILED_AGAIN);
    if (turn.now().isBefore(due)) {
      String why = Objects.requireNonNullElse(view.status().getMessage(), view.reason());
      turn.tell(true, Reason.NOT_VERIFIED, why, "not-verified");
      turn.againAt(due);
    } else {
      turn.act(new Act.Release(view));
    }
  }
}
