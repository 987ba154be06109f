package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Limits the unfinished GpuCheckpoints of a namespace; younger ones wait.
 *
 * @param most how many are admitted at once
 */
record NamespaceLimit(int most) {

  private static final Set<CheckpointPhase> UNFINISHED =
      EnumSet.of(
          CheckpointPhase.PENDING,
          CheckpointPhase.FREEZING,
          CheckpointPhase.SAVING,
          CheckpointPhase.RESUMING,
          CheckpointPhase.IMPORTING);

  private static final Comparator<GpuCheckpoint> OLDER_FIRST =
      Comparator.comparing(
              (GpuCheckpoint it) ->
                  Objects.requireNonNullElse(it.getMetadata().getCreationTimestamp(), ""))
          .thenComparing(it -> it.getMetadata().getUid());

  /** Returns why it must wait; empty if it need not. */
  Optional<CheckpointValidator.Wait> wait(CheckpointContext context) {
    if (context.suspensions() > 0) {
      // It is time-sliced, and was admitted before.
      return Optional.empty();
    }
    long before =
        unfinished(context.cluster(), context.namespace())
            .filter(it -> OLDER_FIRST.compare(it, context.object()) < 0)
            .limit(most)
            .count();
    return before < most
        ? Optional.empty()
        : Optional.of(
            new CheckpointValidator.Wait(
                Reason.TOO_MANY_CHECKPOINTS,
                "namespace %s: expected fewer than %d older GpuCheckpoints that are not finished, got %d or more"
                    .formatted(context.namespace(), most, most)));
  }

  /**
   * Returns those that may begin because another one has ended. Several can have ended by the time
   * the first of them is handled, so this looks for all that have not begun, youngest first.
   */
  List<GpuCheckpoint> admitted(Cluster cluster, Changed<GpuCheckpoint> change) {
    boolean ended =
        change.before().filter(NamespaceLimit::isUnfinished).isPresent()
            && change.after().filter(NamespaceLimit::isUnfinished).isEmpty();
    String namespace = change.subject().getMetadata().getNamespace();
    // Usually none waits, and sorting all of them takes longer than this.
    if (!ended
        || cluster.checkpoints(namespace, CheckpointPhase.PENDING).stream()
            .noneMatch(NamespaceLimit::isWaiting)) {
      return List.of();
    }
    List<GpuCheckpoint> within =
        unfinished(cluster, namespace)
            .sorted(OLDER_FIRST)
            .limit(most)
            .collect(Collectors.toCollection(ArrayList::new));
    Collections.reverse(within);
    return within.stream()
        .takeWhile(it -> cluster.operations(it.getMetadata().getUid()).isEmpty())
        .filter(NamespaceLimit::isWaiting)
        .toList();
  }

  /** Returns also one without a status: it may be about to report that it waits. */
  private static boolean isWaiting(GpuCheckpoint checkpoint) {
    return Conditions.of(checkpoint.getStatus())
        .find(ConditionType.READY)
        .map(it -> Reason.TOO_MANY_CHECKPOINTS.is(it.reason()))
        .orElse(true);
  }

  private static Stream<GpuCheckpoint> unfinished(Cluster cluster, String namespace) {
    return UNFINISHED.stream().flatMap(phase -> cluster.checkpoints(namespace, phase).stream());
  }

  private static boolean isUnfinished(GpuCheckpoint checkpoint) {
    return UNFINISHED.contains(CurrentPhase.of(checkpoint));
  }
}
