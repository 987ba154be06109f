package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.function.Supplier;

/**
 * The part of an object kept by a reconciler that only needs to be triggered and reads from the
 * shared watch. Each reconciler has its own watch, which would otherwise cache everything again.
 */
public class NamesOnly<R extends HasMetadata> extends BasicItemStore<R> {

  private final Supplier<R> empty;

  protected NamesOnly(Supplier<R> empty) {
    super(Cache::metaNamespaceKeyFunc);
    this.empty = empty;
  }

  @Override
  public final R put(String key, R object) {
    ObjectMeta of = object.getMetadata();
    ObjectMeta kept = new ObjectMeta();
    kept.setNamespace(of.getNamespace());
    kept.setName(of.getName());
    kept.setUid(of.getUid());
    kept.setResourceVersion(of.getResourceVersion());
    kept.setGeneration(of.getGeneration());
    kept.setDeletionTimestamp(of.getDeletionTimestamp());
    more(of, kept);
    R named = empty.get();
    named.setMetadata(kept);
    return super.put(key, named);
  }

  /** Also keeps other metadata that is read. */
  protected void more(ObjectMeta of, ObjectMeta kept) {}
}
