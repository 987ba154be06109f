package dev.stasis.operator.owner;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.source.filter.OnUpdateFilter;

/**
 * Ignores updates in the watch of a reconciler that decides by the shared watches, and is triggered
 * by them.
 */
public final class SharedWatchOnly implements OnUpdateFilter<HasMetadata> {

  @Override
  public boolean accept(HasMetadata after, HasMetadata before) {
    return false;
  }
}
