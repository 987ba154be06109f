package dev.stasis.operator.store;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.api.v1beta1.store.NodeUsage;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The status of a store, from the known facts. */
public final class StoreStatus {

  /** A status must stay small, however many nodes or namespaces a cluster has. */
  private static final int LISTED = 500;

  private final Clock clock;

  public StoreStatus(Clock clock) {
    this.clock = clock;
  }

  /**
   * Writes it.
   *
   * @param known facts of the store
   * @param all every store of the cluster
   * @param names names of namespaces by their UID
   * @param status the status, with the volume of a claim; changed in place
   */
  public void write(
      StoreFacts known,
      Collection<GpuCheckpointStore> all,
      Map<String, String> names,
      GpuCheckpointStoreStatus status) {
    StoreFacts facts =
        known.store().getSpec().uploads()
            ? known.with(known.measured().orNewer(known.views(), names))
            : known;
    status.setType(type(facts.store().getSpec().getLocation()));
    status.setNamespaces(namespaces(facts));
    status.setNodes(nodes(facts));
    long written = facts.bytes(written(facts).toList());
    long count = written(facts).count();
    // An agent also sees what has no object any more; a checkpoint is known before it looks again.
    used(status, Math.max(written, seen(facts, NodeStore::usedBytes)));
    sizes(facts, status);
    status.setArtifacts((int) Math.max(count, seen(facts, view -> longOf(view.artifacts()))));
    free(facts, status);
    Report report =
        new Report(status, ConditionType.READY, facts.store().getMetadata().getGeneration(), clock);
    ready(facts, all, status, report);
    report.writeTo(status);
  }

  /** The schema requires exactly one. */
  private static String type(StoreLocation location) {
    if (location.s3() != null) {
      return "S3";
    }
    if (location.persistentVolumeClaim() != null) {
      return "PersistentVolumeClaim";
    }
    return location.nodeLocal() != null ? "NodeLocal" : "SharedPath";
  }

  private static void ready(
      StoreFacts facts,
      Collection<GpuCheckpointStore> all,
      GpuCheckpointStoreStatus status,
      Report report) {
    List<String> defaults =
        all.stream()
            .filter(store -> Boolean.TRUE.equals(store.getSpec().getIsDefault()))
            .map(store -> store.getMetadata().getName())
            .sorted()
            .toList();
    if (defaults.size() > 1 && defaults.contains(facts.store().getMetadata().getName())) {
      report.stalled(
          Reason.SEVERAL_DEFAULTS,
          "default: expected one GpuCheckpointStore, got "
              + defaults
              + "; each can only be used by its name");
      return;
    }
    VolumeStatus volume = status.getVolume();
    if (volume != null && volume.message() != null) {
      report.notReached(Reason.CLAIM_NOT_USABLE, volume.message());
      return;
    }
    if (facts.views().isEmpty()) {
      // There may be no GPU node until a pod needs one; an installation must not wait for that.
      report.rests(
          Reason.WAITING_FOR_AGENT,
          "no agent has reported yet whether its node can access the store");
      return;
    }
    List<StoreFacts.View> writable =
        facts.views().stream().filter(view -> Boolean.TRUE.equals(view.seen().writable())).toList();
    String reach = writable.size() + " of " + facts.views().size() + " nodes can write to it";
    if (writable.isEmpty()) {
      String why =
          facts.views().stream()
              .map(view -> view.seen().message())
              .filter(Objects::nonNull)
              .distinct()
              .limit(1)
              .collect(Collectors.joining());
      report.notReached(Reason.STORE_NOT_WRITABLE, reach + (why.isEmpty() ? "" : ": " + why));
    } else {
      report.done(Reason.STORE_READY, reach);
    }
  }

  private static Stream<StoreFacts.Held> written(StoreFacts facts) {
    return facts.held().stream().filter(StoreFacts.Held::written);
  }

  /**
   * Disks of nodes add up; a shared folder is the same one from everywhere. Those of a remote store
   * only hold copies.
   */
  private static long seen(StoreFacts facts, Function<NodeStore, @Nullable Long> what) {
    GpuCheckpointStoreSpec spec = facts.store().getSpec();
    if (spec.uploads()) {
      return 0;
    }
    List<Long> numbers =
        facts.views().stream()
            .map(view -> Optional.ofNullable(what.apply(view.seen())))
            .flatMap(Optional::stream)
            .toList();
    return spec.getLocation().nodeLocal() != null
        ? numbers.stream().mapToLong(Long::longValue).sum()
        : numbers.stream().mapToLong(Long::longValue).max().orElse(0);
  }

  private static void used(GpuCheckpointStoreStatus status, long bytes) {
    status.setUsedBytes(bytes);
    status.setUsed(new HumanBytes(bytes).text());
  }

  private static void sizes(StoreFacts facts, GpuCheckpointStoreStatus status) {
    boolean uploads = facts.store().getSpec().uploads();
    long logical =
        uploads
            ? written(facts).mapToLong(StoreFacts.Held::logicalBytes).sum()
            : StoreFacts.orZero(status.getUsedBytes());
    long used = StoreFacts.orZero(status.getUsedBytes());
    status.setLogicalBytes(logical);
    status.setLogical(new HumanBytes(logical).text());
    status.setRatio(
        uploads && used > 0 ? String.format(Locale.ROOT, "%.1f", (double) logical / used) : null);
    status.setStoredBytes(facts.measured().time() == null ? null : facts.measured().total());
    status.setMeasuredTime(facts.measured().time());
    Long capacity = capacity(facts);
    status.setCapacityBytes(capacity);
    status.setCapacity(capacity == null ? null : new HumanBytes(capacity).text());
  }

  private static @Nullable Long capacity(StoreFacts facts) {
    Quota quota = facts.store().getSpec().getQuota();
    Long total = quota == null ? null : quota.totalBytes();
    if (total != null) {
      return total;
    }
    if (facts.store().getSpec().uploads()) {
      return facts.measured().capacity();
    }
    long seen = seen(facts, NodeStore::totalBytes);
    return seen == 0 ? null : seen;
  }

  private static void free(StoreFacts facts, GpuCheckpointStoreStatus status) {
    OptionalLong least =
        facts.views().stream()
            .map(StoreFacts.View::seen)
            .filter(view -> view.freeBytes() != null)
            .mapToLong(view -> StoreRoom.left(facts, view))
            .min();
    status.setFreeBytes(least.isPresent() ? least.getAsLong() : null);
    status.setFree(least.isPresent() ? new HumanBytes(least.getAsLong()).text() : null);
  }

  private static List<NamespaceUsage> namespaces(StoreFacts facts) {
    Map<String, List<StoreFacts.Held>> by =
        written(facts)
            .collect(
                Collectors.groupingBy(
                    StoreFacts.Held::namespace, TreeMap::new, Collectors.toList()));
    // One whose artifacts are deleted counts until they are freed.
    facts.measured().namespaces().keySet().forEach(name -> by.putIfAbsent(name, List.of()));
    List<NamespaceUsage> usage = new ArrayList<>();
    by.forEach(
        (namespace, held) -> {
          long bytes = facts.bytesOf(namespace, held);
          usage.add(
              new NamespaceUsage(
                  namespace,
                  bytes,
                  new HumanBytes(bytes).text(),
                  held.size(),
                  held.stream().mapToLong(StoreFacts.Held::logicalBytes).sum(),
                  facts.measured().namespaces().get(namespace)));
        });
    return usage.subList(0, Math.min(LISTED, usage.size()));
  }

  private static List<NodeUsage> nodes(StoreFacts facts) {
    return facts.views().stream()
        .limit(LISTED)
        .map(
            view ->
                new NodeUsage(
                    view.node(),
                    view.seen().usedBytes(),
                    view.seen().freeBytes(),
                    view.seen().artifacts(),
                    view.seen().writable(),
                    view.seen().message()))
        .toList();
  }

  private static @Nullable Long longOf(@Nullable Integer number) {
    return number == null ? null : number.longValue();
  }
}
