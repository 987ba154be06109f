package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Collection;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Triggers reconciliations of the objects affected by a change of another kind. An index of the
 * framework may miss an object that is being updated at that moment (see {@link IndexedItems}), so
 * a reconciler also looks again from time to time.
 *
 * @param <R> the kind that changes
 * @param <P> the kind of the reconciler
 */
public class ClusterSource<R extends HasMetadata, P extends HasMetadata>
    extends AbstractEventSource<R, P> {

  private final Informers informers;
  private final Class<R> kind;
  private final Function<Changed<R>, ? extends Collection<ResourceID>> concerned;
  private final Consumer<Changed<R>> listener = this::changed;

  /**
   * @param concerned returns the objects of the reconciler affected by a change; called by the
   *     watch's thread, so it must be quick
   */
  public ClusterSource(
      Class<R> kind,
      Informers informers,
      Function<Changed<R>, ? extends Collection<ResourceID>> concerned) {
    this("", kind, informers, concerned);
  }

  /**
   * The same for a reconciler with several event sources of that kind.
   *
   * @param name distinguishes them
   */
  public ClusterSource(
      String name,
      Class<R> kind,
      Informers informers,
      Function<Changed<R>, ? extends Collection<ResourceID>> concerned) {
    super(kind, "cluster-" + kind.getSimpleName() + name);
    this.kind = kind;
    this.informers = informers;
    this.concerned = concerned;
  }

  @Override
  public void start() {
    super.start();
    informers.listen(kind, listener);
    informers.start();
  }

  @Override
  public void stop() {
    informers.forget(kind, listener);
    super.stop();
  }

  private void changed(Changed<R> change) {
    // javac 25 rejects a loop over the wildcard's elements.
    Collection<ResourceID> objects = concerned.apply(change);
    for (ResourceID object : objects) {
      getEventHandler().handleEvent(new Event(object));
    }
  }

  /** Reconcilers read the {@link Cluster} instead. */
  @Override
  public Set<R> getSecondaryResources(P primary) {
    return Set.of();
  }
}
