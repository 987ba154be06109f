package dev.stasis.operator.cluster;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Operations that were made a moment ago and that the watch has not shown yet. Whoever asks for the
 * operations of an object is told of them too: an object that is deleted in that moment would
 * otherwise go without its order, and a workload be frozen for nobody.
 */
final class Unseen {

  private final Map<String, GpuNodeOperation> made = new ConcurrentHashMap<>();

  void made(GpuNodeOperation operation) {
    made.put(operation.getMetadata().getName(), operation);
  }

  /** The watch shows it, or it is gone. Another one of its name is not meant. */
  void forget(GpuNodeOperation operation) {
    made.computeIfPresent(
        operation.getMetadata().getName(), (name, ours) -> isSame(ours, operation) ? null : ours);
  }

  private static boolean isSame(GpuNodeOperation one, GpuNodeOperation other) {
    return Objects.equals(one.getMetadata().getUid(), other.getMetadata().getUid());
  }

  /**
   * What the watch shows, and those of ours for which that holds.
   *
   * @param watch is read after ours: what it shows from that moment on is not missed
   */
  List<GpuNodeOperation> with(
      Supplier<List<GpuNodeOperation>> watch, Predicate<GpuNodeOperation> wanted) {
    List<GpuNodeOperation> ours = made.values().stream().filter(wanted).toList();
    List<GpuNodeOperation> shown = watch.get();
    if (ours.isEmpty()) {
      return shown;
    }
    Map<String, GpuNodeOperation> all = new LinkedHashMap<>();
    shown.forEach(each -> all.put(each.getMetadata().getName(), each));
    // Of the same one the watch knows more; another one of that name is gone.
    ours.forEach(
        each ->
            all.merge(
                each.getMetadata().getName(),
                each,
                (known, our) -> isSame(known, our) ? known : our));
    return List.copyOf(all.values());
  }
}
