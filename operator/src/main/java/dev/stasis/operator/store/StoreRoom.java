package dev.stasis.operator.store;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Checks whether an artifact would fit, before a freeze. */
public final class StoreRoom {

  /**
   * A fifth of a node's disk: the kubelet evicts pods when less than 15 % are free for images, and
   * images are usually on the same disk.
   */
  private static final int FREE_PART_OF_A_NODE = 5;

  /** A tenth of a shared file system: a full one affects all its users. */
  private static final int FREE_PART = 10;

  /**
   * Returns every reason why it would not fit.
   *
   * @param facts facts of the store, without the requesting GpuCheckpoint
   * @param namespace the artifact's namespace
   * @param node the node that would write it
   * @param bytes its expected size
   */
  public List<Fault> against(StoreFacts facts, String namespace, String node, long bytes) {
    List<Fault> faults = new ArrayList<>();
    String name = facts.store().getMetadata().getName();
    faults.addAll(quota(facts, namespace, bytes));
    Optional<NodeStore> view = facts.from(node);
    if (view.isEmpty()) {
      faults.add(
          Reason.STORE_NOT_WRITABLE.misfit(
              "store " + name,
              "one that node " + node + " can write to",
              "no report by the agent of the node"));
    } else if (!Boolean.TRUE.equals(view.get().writable())) {
      faults.add(
          Reason.STORE_NOT_WRITABLE.misfit(
              "store " + name,
              "one that node " + node + " can write to",
              Objects.requireNonNullElse(view.get().message(), "one that it cannot write to")));
    } else {
      space(facts, view.get(), node, bytes).ifPresent(faults::add);
    }
    return faults;
  }

  /** The same for the quota only, which does not change while the artifact is written. */
  public List<Fault> quota(StoreFacts facts, String namespace, long bytes) {
    List<Fault> faults = new ArrayList<>();
    String name = facts.store().getMetadata().getName();
    Quota quota = facts.store().getSpec().getQuota();
    if (quota != null) {
      over("store " + name + " quota.total", quota.totalBytes(), facts.bytes(), bytes, faults);
      over(
          "store " + name + " quota of namespace " + namespace,
          quota.bytesOf(namespace),
          facts.bytesOf(namespace),
          bytes,
          faults);
    }
    return faults;
  }

  /** Bytes of a file system that must stay free. */
  static long keptFree(StoreFacts facts, NodeStore view) {
    GpuCheckpointStoreSpec spec = facts.store().getSpec();
    int part = spec.sharesFolder() ? FREE_PART : FREE_PART_OF_A_NODE;
    Long own = spec.getOptions().minFreeBytes();
    return own == null ? StoreFacts.orZero(view.totalBytes()) / part : own;
  }

  /** Bytes left for artifacts beside those that must stay free. */
  static long left(StoreFacts facts, NodeStore view) {
    return Math.max(0, StoreFacts.orZero(view.freeBytes()) - keptFree(facts, view));
  }

  private static Optional<Fault> space(StoreFacts facts, NodeStore view, String node, long bytes) {
    if (view.freeBytes() == null) {
      return Optional.empty();
    }
    long kept = keptFree(facts, view);
    long usable = Math.max(0, view.freeBytes() - kept - facts.inTheMaking(node));
    return usable >= bytes
        ? Optional.empty()
        : Optional.of(
            Reason.STORE_FULL.misfit(
                "store " + facts.store().getMetadata().getName() + " on node " + node,
                new HumanBytes(bytes).text()
                    + " free beside the "
                    + new HumanBytes(kept).text()
                    + " kept free",
                new HumanBytes(usable).text()));
  }

  private static void over(
      String property, @Nullable Long quota, long used, long more, List<Fault> faults) {
    if (quota != null && used + more > quota) {
      faults.add(
          Reason.QUOTA_EXCEEDED.misfit(
              property,
              "room for "
                  + new HumanBytes(more).text()
                  + " more within "
                  + new HumanBytes(quota).text(),
              new HumanBytes(used).text() + " used"));
    }
  }
}
