package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.common.ConditionedStatus;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.List;

/**
 * Triggers a reconciliation when the spec or the deletionTimestamp of a primary resource changes.
 * The framework does so too, except for a change during a status write: JOSDK 5.3 mistakes it for
 * the echo of that write, and a deletion would wait for the next event.
 *
 * @param <P> the kind of the reconciler
 */
public final class WishSource<P extends CustomResource<?, ? extends ConditionedStatus>>
    extends ClusterSource<P, P> {

  public WishSource(Class<P> kind, Informers informers) {
    super("wishes", kind, informers, WishSource::unheeded);
  }

  /** Also after each status write that did not include the change. */
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
