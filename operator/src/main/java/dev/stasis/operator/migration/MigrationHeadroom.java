package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.resize.HeadroomReturn;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.Optional;

/** The memory for a migration: the source's limit is raised, and lowered again at the end. */
@Singleton
class MigrationHeadroom {

  private final Cluster cluster;
  private final MigrationOperations operations;
  private final HeadroomNegotiation negotiation;
  private final HeadroomReturn headroom;

  MigrationHeadroom(Cluster cluster, PodWrites pods, MigrationOperations operations) {
    this.cluster = cluster;
    this.operations = operations;
    this.negotiation = new HeadroomNegotiation(cluster, pods);
    this.headroom = new HeadroomReturn(pods);
  }

  /** The agent of the source waits for it; nothing is frozen meanwhile. */
  Progress answer(MigrationContext context, OperationView freeze) {
    Optional<Node> node = cluster.node(freeze.node());
    if (context.source().isEmpty() || node.isEmpty()) {
      return new Progress.Done();
    }
    HeadroomNegotiation.Result result =
        negotiation.answer(
            freeze,
            context.source().get(),
            node.get(),
            context.migration().getSpec().getOptions().getMemoryLimitPolicy());
    if (result instanceof HeadroomNegotiation.Refused refused) {
      return new Progress.Failed(refused.faults());
    }
    if (result instanceof HeadroomNegotiation.Raised raised) {
      context.status().setRoom(raised.room());
      return new Progress.Waiting(Reason.MAKING_ROOM, raised.message());
    }
    return new Progress.Waiting(
        Reason.MAKING_ROOM, ((HeadroomNegotiation.Waiting) result).message());
  }

  /**
   * Lowers a raised limit after the end of the migration.
   *
   * @return whether nothing is left to do
   */
  boolean lower(MigrationContext context) {
    GpuMigrationStatus status = context.status();
    boolean raised = Conditions.of(status).isFalse(ConditionType.ROOM_RETURNED);
    boolean moved = status.getPhase() == MigrationPhase.SUCCEEDED;
    Optional<Pod> pod = moved ? context.target() : context.source();
    if (!raised
        || pod.isEmpty()
        || pod.get().getMetadata().getDeletionTimestamp() != null
        || context.work().template().isEmpty()) {
      return true;
    }
    Pod before = operations.orders().original(context.work(), pod.get());
    Optional<HeadroomReturn.Result> result = headroom.lower(before, pod.get(), context.container());
    result.ifPresent(it -> context.updater().roomReturned(it.done(), it.message()));
    return result.filter(HeadroomReturn.Result::done).isPresent();
  }
}
