package dev.stasis.operator.store;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.store.AllowedNamespaces;
import dev.stasis.operator.selector.Selector;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which store a checkpoint goes to, or why to none. */
public final class StoreChoice {

  /** What came of it. */
  public sealed interface Choice {}

  /**
   * This one.
   *
   * @param store it may be used; whether there is room is another question
   */
  public record Chosen(GpuCheckpointStore store) implements Choice {}

  /**
   * None.
   *
   * @param reason in one word
   * @param fault with property, wanted and found
   */
  public record Refused(Reason reason, Fault fault) implements Choice {}

  /**
   * Chooses.
   *
   * @param asked the name that the user gave; null: the default is meant
   * @param namespace of the GpuCheckpoint
   * @param stores all that there are
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
          "one whose allowedNamespaces hold " + namespace.getMetadata().getName(),
          store.getMetadata().getName() + ", whose do not");
    }
    return new Chosen(store);
  }

  /** Whether the namespace may use the store. */
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
    String sentence = "store: wanted " + wanted + ", found " + found;
    return new Refused(
        reason, new Fault(reason.word(), "store", wanted, found, null, null, sentence));
  }

  private static List<String> names(Collection<GpuCheckpointStore> stores) {
    return stores.stream().map(store -> store.getMetadata().getName()).sorted().toList();
  }
}
