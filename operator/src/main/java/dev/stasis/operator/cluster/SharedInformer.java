package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The informer of one kind, shared by all reconcilers. */
final class SharedInformer<R extends HasMetadata> implements ResourceEventHandler<R> {

  private static final Logger LOG = System.getLogger(SharedInformer.class.getName());

  private final SharedIndexInformer<R> informer;
  private final IndexedItems<R> items;
  private final UnaryOperator<R> kept;
  private final List<Consumer<Changed<R>>> listeners = new CopyOnWriteArrayList<>();

  /**
   * @param kept trims an object for the cache and the listeners; idempotent
   */
  SharedInformer(
      SharedIndexInformer<R> informer,
      Map<String, Function<R, List<String>>> indexers,
      UnaryOperator<R> kept) {
    this.informer = informer;
    this.kept = kept;
    this.items = new IndexedItems<>(kept, indexers);
    informer.itemStore(items);
    informer.removeNamespaceIndex();
    // A broken watch is always restarted; only the first list may fail the start.
    informer.exceptionHandler((started, failure) -> started);
    informer.addEventHandler(this);
  }

  SharedIndexInformer<R> informer() {
    return informer;
  }

  void listen(Consumer<Changed<R>> listener) {
    listeners.add(listener);
  }

  void forget(Consumer<Changed<R>> listener) {
    listeners.remove(listener);
  }

  Optional<R> get(String key) {
    return Optional.ofNullable(items.get(key));
  }

  boolean has(String index, String value) {
    return items.has(index, value);
  }

  List<R> by(String index, String value) {
    return items.by(index, value);
  }

  List<R> all() {
    return items.values().toList();
  }

  @Override
  public void onAdd(R added) {
    tell(new Changed<>(Optional.empty(), Optional.of(kept.apply(added))));
  }

  @Override
  public void onUpdate(R before, R after) {
    String version = before.getMetadata().getResourceVersion();
    if (!after.getMetadata().getResourceVersion().equals(version)) {
      tell(new Changed<>(Optional.of(kept.apply(before)), Optional.of(kept.apply(after))));
    }
  }

  @Override
  public void onDelete(R gone, boolean finalStateUnknown) {
    tell(new Changed<>(Optional.of(kept.apply(gone)), Optional.empty()));
  }

  private void tell(Changed<R> change) {
    for (Consumer<Changed<R>> listener : listeners) {
      try {
        listener.accept(change);
      } catch (RuntimeException e) {
        // An exception of one listener must not stop the others.
        LOG.log(Level.ERROR, "a change of " + change.subject().getFullResourceName(), e);
      }
    }
  }
}
