package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.function.Predicate;

/** Triggers the requester's reconciliation whenever one of its operations changes. */
@Singleton
public class OperationSource {

  private final Informers informers;

  public OperationSource(Informers informers) {
    this.informers = informers;
  }

  /** Creates the source for the reconciler of that kind. */
  public <P extends HasMetadata> EventSource<GpuNodeOperation, P> of(RequesterKind kind) {
    return of(kind, change -> false);
  }

  /**
   * The same for a reconciler that knows some changes.
   *
   * @param known returns whether a change has nothing new for the requester
   */
  public <P extends HasMetadata> EventSource<GpuNodeOperation, P> of(
      RequesterKind kind, Predicate<Changed<GpuNodeOperation>> known) {
    return new ClusterSource<>(
        GpuNodeOperation.class,
        informers,
        change -> known.test(change) ? List.of() : requester(kind, change));
  }

  /**
   * Returns whether a finished operation has lost its finalizer, which the operator removes when it
   * deletes the operation. A reconciliation at this moment would delete it once more; the deletion
   * triggers one.
   */
  public static boolean isReleased(Changed<GpuNodeOperation> change) {
    return change
            .before()
            .filter(it -> OperationView.of(it).isFinal())
            .filter(it -> !it.getMetadata().getFinalizers().isEmpty())
            .isPresent()
        && change.after().filter(it -> it.getMetadata().getFinalizers().isEmpty()).isPresent();
  }

  private static List<ResourceID> requester(RequesterKind kind, Changed<GpuNodeOperation> change) {
    if (isReleased(change)) {
      return List.of();
    }
    ObjectReference requester = change.subject().getSpec().getRequester();
    return requester.kind().equals(kind.kind())
        ? List.of(new ResourceID(requester.name(), requester.namespace()))
        : List.of();
  }
}
