package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Operations that were created and that the watch has not shown yet. Lookups of operations include
 * them. Otherwise a request that is deleted at that moment would leave its operation behind, and a
 * workload frozen.
 */
final class CreationExpectations {

  private final Map<String, GpuNodeOperation> made = new ConcurrentHashMap<>();

  void made(GpuNodeOperation operation) {
    made.put(operation.getMetadata().getName(), operation);
  }

  /**
   * Removes this operation, but no other one with its name: the watch shows it, or it was deleted.
   */
  void forget(GpuNodeOperation operation) {
    made.computeIfPresent(
        operation.getMetadata().getName(), (name, ours) -> isSame(ours, operation) ? null : ours);
  }

  private static boolean isSame(GpuNodeOperation one, GpuNodeOperation other) {
    return Objects.equals(one.getMetadata().getUid(), other.getMetadata().getUid());
  }

  /**
   * Returns what the watch shows, and the matching expected operations.
   *
   * @param watch read after the expected ones, so that none is missed
   */
  List<GpuNodeOperation> with(
      Supplier<List<GpuNodeOperation>> watch, Predicate<GpuNodeOperation> matching) {
    List<GpuNodeOperation> ours = made.values().stream().filter(matching).toList();
    List<GpuNodeOperation> shown = watch.get();
    if (ours.isEmpty()) {
      return shown;
    }
    Map<String, GpuNodeOperation> all = new LinkedHashMap<>();
    shown.forEach(each -> all.put(each.getMetadata().getName(), each));
    // The watch has the newer state; another operation with the name was deleted.
    ours.forEach(
        each ->
            all.merge(
                each.getMetadata().getName(),
                each,
                (known, our) -> isSame(known, our) ? known : our));
    return List.copyOf(all.values());
  }
}
