package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.node.ExpectedFreeze;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.explain.Explainer;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.status.ConditionType;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Reports what a freeze would do, without doing it. */
final class DryRunReport {

  private final Explainer explainer = new Explainer();
  private final CheckpointValidator validator = new CheckpointValidator();

  /** Reports faults that are known without the agent. */
  void withoutAgent(CheckpointContext context, List<Fault> faults) {
    write(
        context,
        new Explainer.Findings(
            Optional.empty(),
            faults,
            Duration.ZERO,
            new LivenessVerdict.Fits(Optional.empty()),
            new RoomPlan.NoResizeNeeded(),
            context.restorable().verdicts(context)));
    // Its duration and the requirements of the workload are unknown.
    context
        .status()
        .setExplanation(
            new Explanation(List.copyOf(faults), null, null, null, null, null, null, null));
    context.status().setNodesFit(null);
    context.status().setNodesKnown(null);
    context.status().setNodes(null);
    context.updater().drop(ConditionType.RESTORABLE);
  }

  /** Reports the agent's findings. */
  void write(CheckpointContext context, OperationView view) {
    Explanation found =
        Objects.requireNonNullElseGet(
            view.status().getExplanation(),
            () -> new Explanation(view.faults(), null, null, null, null, null, null, null));
    context.status().setOtherContainers(view.status().getOtherContainers());
    Duration frozen = expected(context, view, found);
    List<Fault> faults = new ArrayList<>();
    LivenessVerdict liveness = new LivenessVerdict.Fits(Optional.empty());
    RoomPlan room = new RoomPlan.NoResizeNeeded();
    if (context.pod().isPresent() && context.status().getPod() != null) {
      String container = Objects.requireNonNullElse(context.status().getPod().container(), "");
      liveness = validator.liveness(context, context.pod().get(), container, frozen);
      room = room(context, view);
    }
    Long bytes = found.expectedBytes();
    storeOf(view)
        .flatMap(context.cluster()::store)
        .ifPresent(
            store ->
                faults.addAll(
                    validator.room(context, store, view.node(), bytes == null ? 0 : bytes)));
    write(
        context,
        new Explainer.Findings(
            Optional.of(found),
            faults,
            frozen,
            liveness,
            room,
            context.restorable().verdicts(context)));
  }

  private void write(CheckpointContext context, Explainer.Findings findings) {
    context.updater().explained(explainer, findings);
  }

  private static Optional<String> storeOf(OperationView view) {
    return Optional.ofNullable(view.operation().getSpec().getArtifact()).map(it -> it.store());
  }

  private static RoomPlan room(CheckpointContext context, OperationView view) {
    Room room = view.status().getRoom();
    Optional<Node> node = context.cluster().node(view.node());
    return room == null || room.neededBytes() == null || node.isEmpty()
        ? new RoomPlan.NoResizeNeeded()
        : HeadroomNegotiation.plan(
            context.cluster(),
            view,
            context.pod().orElseThrow(),
            node.get(),
            context.spec().getOptions().getMemoryLimitPolicy());
  }

  private static Duration expected(
      CheckpointContext context, OperationView view, Explanation found) {
    if (found.expectedFrozenMilliseconds() != null) {
      return Duration.ofMillis(found.expectedFrozenMilliseconds());
    }
    long bytes = found.expectedBytes() == null ? 0 : found.expectedBytes();
    DataPath path = Objects.requireNonNullElse(found.dataPath(), DataPath.CRIU);
    return new ExpectedFreeze(bytes, 0, 0, path, FreezeAttempt.next(context).writes())
        .frozen(
            context
                .cluster()
                .gpuNode(view.node())
                .map(node -> node.getStatus())
                .map(GpuNodeStatus::getSelfTest)
                .orElse(null));
  }
}
