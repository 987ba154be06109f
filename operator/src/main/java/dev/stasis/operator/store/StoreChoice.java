package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.store.AllowedNamespaces;
import dev.stasis.operator.selector.Selector;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Chooses the store of a checkpoint, or reports why there is none. */
public final class StoreChoice {

  /** The result. */
  public sealed interface Choice {}

  /**
   * The chosen store.
   *
   * @param store it may be used; its free space is checked separately
   */
  public record Chosen(GpuCheckpointStore store) implements Choice {}

  /**
   * No store.
   *
   * @param fault the fault with property, expected and actual value
   */
  public record Refused(Fault fault) implements Choice {}

  /**
   * Chooses a store.
   *
   * @param asked the name in the spec; null for the default
   * @param namespace of the GpuCheckpoint
   * @param stores all stores
   */
  public Choice choose(
      @Nullable String asked, Namespace namespace, Collection<GpuCheckpointStore> stores) {
    List<GpuCheckpointStore> meant =
        stores.stream()
            .filter(
                store ->
                    asked == null
                        ? Boolean.TRUE.equals(store.getSpec().getIsDefault())
                        : asked.equals(store.getMetadata().getName()))
            .toList();
    if (meant.isEmpty()) {
      return refused(
          Reason.STORE_NOT_FOUND,
          asked == null ? "a name, or a GpuCheckpointStore marked as default" : asked,
          stores.isEmpty() ? "no GpuCheckpointStore" : "only " + names(stores));
    }
    if (meant.size() > 1) {
      return refused(
          Reason.SEVERAL_DEFAULTS,
          "a name, or one GpuCheckpointStore marked as default",
          String.valueOf(names(meant)));
    }
    GpuCheckpointStore store = meant.get(0);
    if (!allows(store, namespace)) {
      return refused(
          Reason.NAMESPACE_NOT_ALLOWED,
          "one whose allowedNamespaces include " + namespace.getMetadata().getName(),
          store.getMetadata().getName() + ", whose do not");
    }
    return new Chosen(store);
  }

  public boolean allows(GpuCheckpointStore store, Namespace namespace) {
    AllowedNamespaces allowed = store.getSpec().getAllowedNamespaces();
    if (allowed == null) {
      return true;
    }
    List<String> names = Objects.requireNonNullElse(allowed.names(), List.of());
    return names.contains(namespace.getMetadata().getName())
        || (allowed.selector() != null
            && new Selector(allowed.selector()).matches(namespace.getMetadata().getLabels()));
  }

  private static Refused refused(Reason reason, String wanted, String found) {
    return new Refused(reason.misfit("store", wanted, found));
  }

  private static List<String> names(Collection<GpuCheckpointStore> stores) {
    return stores.stream().map(store -> store.getMetadata().getName()).sorted().toList();
  }
}
