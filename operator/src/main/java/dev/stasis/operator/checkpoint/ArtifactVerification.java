package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Verifies stored artifacts at intervals, so that damage is known before an artifact is needed.
 * Each node verifies one at a time.
 */
final class ArtifactVerification {

  /** Damage may have been repaired, or an unmounted file system mounted again. */
  private static final Duration DAMAGED_AGAIN = Duration.ofDays(1);

  /** A store that could not be read is often available again soon; nothing waits for it. */
  private static final Duration FAILED_AGAIN = Duration.ofHours(1);

  /** Minimum wait for a busy node; checkpoints are spread over the same time after it. */
  private static final int BUSY_AGAIN_SECONDS = 300;

  private final CheckpointOperations operations;

  ArtifactVerification(CheckpointOperations operations) {
    this.operations = operations;
  }

  /** Continues the verification of the artifact in the status, or begins it when it is due. */
  void next(CheckpointContext context) {
    ArtifactStatus artifact = context.status().getArtifact();
    if (artifact == null || artifact.getSha256() == null) {
      return;
    }
    Optional<OperationView> found = context.operation(OperationType.VERIFY, 1);
    if (found.isPresent()) {
      follow(context, found.get());
      return;
    }
    Duration every = context.config().verifyEvery();
    // An upload reads every byte of the artifact, and of what is stored.
    boolean uploading = artifact.getDurability() != null && artifact.getNode() != null;
    Optional<Instant> next = due(context, every);
    if (next.isEmpty() || uploading) {
      return;
    }
    Instant due = next.get();
    if (context.now().isBefore(due)) {
      context.requeueAt(due);
      return;
    }
    Optional<String> node = context.reachingNode(artifact);
    if (node.isEmpty() || isBusy(context, node.get()) || !context.artifactUsers().isEmpty()) {
      context.requeueAfter(
          Duration.ofSeconds(
              BUSY_AGAIN_SECONDS + Math.floorMod(context.uid().hashCode(), BUSY_AGAIN_SECONDS)));
      return;
    }
    operations.verify(context, artifact, node.get());
  }

  private Optional<Instant> due(CheckpointContext context, Duration every) {
    Instant last = context.status().getLastVerified();
    boolean again = context.conditions().isDamaged() && every.compareTo(DAMAGED_AGAIN) > 0;
    // A checkpoint and an import verify what they write.
    Optional<Instant> usual =
        every.isZero()
            ? Optional.empty()
            : Optional.of(
                last == null
                    ? context.readyTime().orElse(context.created()).plus(every)
                    : last.plus(again ? DAMAGED_AGAIN : every));
    return Stream.concat(
            usual.stream(),
            Optional.ofNullable(context.spec().getOptions().getVerifyAfter())
                .filter(wanted -> last == null || last.isBefore(wanted))
                .stream())
        .min(Comparator.naturalOrder());
  }

  private static boolean isBusy(CheckpointContext context, String node) {
    return context.cluster().operationsOf(node).stream()
        .map(OperationView::of)
        .anyMatch(view -> view.type() == OperationType.VERIFY && !view.isFinal());
  }

  private void follow(CheckpointContext context, OperationView view) {
    if (view.isFinal()) {
      ended(context, view);
      return;
    }
    NodeAgent agent = context.agent(view);
    if (agent.isGivenUp(view.entered(), context.config().orphanAfter(), context.now())) {
      operations.abandon(view);
    }
  }

  private void ended(CheckpointContext context, OperationView view) {
    CheckpointReporter reporter = context.reporter();
    Instant end = view.entered();
    boolean isDamaged = !view.succeeded() && Reason.ARTIFACT_DAMAGED.is(firstReason(view));
    if (!view.succeeded() && !isDamaged) {
      failed(context, view, end);
      return;
    }
    if (end.equals(context.status().getLastVerified())) {
      operations.release(view);
      return;
    }
    boolean wasDamaged = context.conditions().isDamaged();
    context.status().setLastVerified(end);
    String said = view.message();
    if (isDamaged) {
      context.restorable().damaged(context, said);
      reporter.warning(Reason.ARTIFACT_DAMAGED, said, "damaged/" + end);
    } else if (wasDamaged) {
      context.restorable().whole(context);
      reporter.normal(Reason.ARTIFACT_VERIFIED, said, "whole/" + end);
    }
    context.requeueAfter(context.config().progressEvery());
  }

  private static String firstReason(OperationView view) {
    return view.faults().isEmpty() ? view.reason() : view.faults().get(0).reason();
  }

  /** It is not known whether the artifact is whole. */
  private void failed(CheckpointContext context, OperationView view, Instant end) {
    Instant due = end.plus(FAILED_AGAIN);
    if (context.now().isBefore(due)) {
      String why = view.message();
      context.reporter().warning(Reason.NOT_VERIFIED, why, "not-verified");
      context.requeueAt(due);
    } else {
      operations.release(view);
    }
  }
}
