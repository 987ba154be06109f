package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Counts the writes on all objects of a kind in a namespace, each by its resource version. */
final class WriteCount<T extends HasMetadata> implements AutoCloseable {

  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private final AtomicLong changed = new AtomicLong();
  private final Watch watch;

  WriteCount(KubernetesClient admin, Class<T> kind, String namespace) {
    watch =
        admin
            .resources(kind)
            .inNamespace(namespace)
            .watch(
                new Watcher<>() {
                  @Override
                  public void eventReceived(Action action, T object) {
                    boolean isNew =
                        seen.add(
                            object.getMetadata().getUid()
                                + "/"
                                + object.getMetadata().getResourceVersion());
                    if (action == Action.MODIFIED && isNew) {
                      changed.incrementAndGet();
                    }
                  }

                  @Override
                  public void onClose(@Nullable WatcherException cause) {}
                });
  }

  /** Writes after the creation. */
  long changes() {
    return changed.get();
  }

  @Override
  public void close() {
    watch.close();
  }
}
