package dev.stasis.operator.cluster;

import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.List;

/**
 * Wakes a reconciler when somebody wants something else of one of its objects: a new spec, a
 * cancel, a deletion. The framework tells of these too, except of one that comes while the
 * reconciler writes the status: JOSDK 5.3 takes it for the echo of that write, and a deletion would
 * wait until something else happens to the object.
 *
 * @param <P> the kind of the reconciler
 */
public final class WishSource<P extends CustomResource<?, ? extends ConditionedStatus>>
    extends ClusterSource<P, P> {

  public WishSource(Class<P> kind, Informers informers) {
    super("wishes", kind, informers, WishSource::unheeded);
  }

  /** Also after each write of the status that did not know of it. */
  static <P extends CustomResource<?, ? extends ConditionedStatus>> List<ResourceID> unheeded(
      Changed<P> change) {
    if (change.cameOrWent()) {
      return List.of();
    }
    P object = change.subject();
    boolean deleted = object.getMetadata().getDeletionTimestamp() != null;
    Long seen = object.getStatus() == null ? null : object.getStatus().getObservedGeneration();
    boolean behind = seen != null && !seen.equals(object.getMetadata().getGeneration());
    return deleted || behind ? List.of(ResourceID.fromResource(object)) : List.of();
  }
}
