package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.function.Supplier;

/**
 * What a reconciler keeps that only wants to be woken, and reads from the common watch: each
 * reconciler has a watch of its own, which would keep everything once more.
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

  /** Adds what else is read of the metadata. */
  protected void more(ObjectMeta of, ObjectMeta kept) {}
}
