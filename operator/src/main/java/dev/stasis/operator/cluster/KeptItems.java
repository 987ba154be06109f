package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.function.UnaryOperator;

/** The item store of a watch, which keeps a reduced copy of each object. */
final class KeptItems<R extends HasMetadata> extends BasicItemStore<R> {

  private final UnaryOperator<R> kept;

  KeptItems(UnaryOperator<R> kept) {
    super(Cache::metaNamespaceKeyFunc);
    this.kept = kept;
  }

  @Override
  public R put(String key, R object) {
    return super.put(key, kept.apply(object));
  }
}
