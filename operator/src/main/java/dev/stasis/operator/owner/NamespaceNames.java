package dev.stasis.operator.owner;

import dev.stasis.operator.cluster.NamesOnly;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Caches only the names of namespaces. */
public final class NamespaceNames extends NamesOnly<Namespace> {

  /** Used by the framework, which creates instances by reflection. */
  public NamespaceNames() {
    super(Namespace::new);
  }

  /** The framework does not reconcile what is being deleted; hand-overs end there, too. */
  @Override
  protected void more(ObjectMeta of, ObjectMeta kept) {
    kept.setDeletionTimestamp(null);
  }
}
