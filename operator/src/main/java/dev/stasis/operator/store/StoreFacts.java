package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The facts about a store.
 *
 * @param views the agents' observations, by the node's name
 * @param held its artifacts, including those that are being written
 * @param measured content of its remote part
 */
public record StoreFacts(
    GpuCheckpointStore store, List<View> views, List<Held> held, Measured measured) {

  /** Adds an artifact to the usage of a store. */
  private static final Set<OperationType> WRITES =
      Set.of(OperationType.CHECKPOINT, OperationType.RECEIVE, OperationType.IMPORT);

  public StoreFacts {
    views = List.copyOf(views);
    held = List.copyOf(held);
  }

  /**
   * A node's view of the store.
   *
   * @param seen its agent's report
   */
  public record View(String node, NodeStore seen) {}

  /**
   * Bytes in the store that belong to a GpuCheckpoint.
   *
   * @param bytes what counts against quotas: the size of the artifact, or what its upload added to
   *     the store; the expected size while it is being written or uploaded
   * @param logicalBytes size of the artifact
   * @param written whether it is complete
   * @param node the node that writes it; null if it is complete
   * @param stored when it was in the remote store; null: it is not, or there is none
   */
  public record Held(
      String namespace,
      String name,
      long bytes,
      long logicalBytes,
      boolean written,
      @Nullable String node,
      @Nullable Instant stored) {}

  public static StoreFacts of(
      GpuCheckpointStore store, Collection<GpuNode> nodes, Collection<GpuCheckpoint> checkpoints) {
    String name = store.getMetadata().getName();
    List<View> views = new ArrayList<>();
    for (GpuNode node : nodes) {
      NodeStores.of(node).list().stream()
          .filter(seen -> seen.name().equals(name))
          .forEach(seen -> views.add(new View(node.getMetadata().getName(), seen)));
    }
    views.sort(Comparator.comparing(View::node));
    List<Held> held =
        checkpoints.stream()
            .map(checkpoint -> held(checkpoint, store))
            .flatMap(Optional::stream)
            .sorted(Comparator.comparing(Held::namespace).thenComparing(Held::name))
            .toList();
    return new StoreFacts(store, views, held, Measured.of(store));
  }

  /**
   * Returns a copy that includes artifacts in progress: two parallel ones must not use the same
   * free bytes.
   *
   * @param operations all operations of the store; finished and canceled ones do not count
   */
  public StoreFacts with(Collection<GpuNodeOperation> operations) {
    Set<String> there =
        held.stream().map(it -> it.namespace() + "/" + it.name()).collect(Collectors.toSet());
    List<Held> all = new ArrayList<>(held);
    operations.stream()
        .map(OperationView::of)
        .filter(view -> !view.isFinal() && !view.isCancelled() && isWriting(view))
        .map(StoreFacts::making)
        .filter(making -> !there.contains(making.namespace() + "/" + making.name()))
        .forEach(all::add);
    return new StoreFacts(store, views, all, measured);
  }

  /** Returns a copy with another measurement. */
  StoreFacts with(Measured newer) {
    return new StoreFacts(store, views, held, newer);
  }

  private static boolean isWriting(OperationView view) {
    FreezeOrder freeze = view.operation().getSpec().getFreeze();
    return WRITES.contains(view.type()) && (freeze == null || !freeze.getDryRun());
  }

  private static Held making(OperationView view) {
    GpuNodeOperationSpec spec = view.operation().getSpec();
    Explanation explanation = view.status().getExplanation();
    Long expected = explanation == null ? null : explanation.expectedBytes();
    long bytes = orZero(expected == null ? view.status().getTotalBytes() : expected);
    return new Held(
        Objects.requireNonNull(spec.getArtifact(), "it is in a store").namespace(),
        spec.getRequester().name(),
        bytes,
        bytes,
        view.type() == OperationType.IMPORT,
        spec.getNodeName(),
        null);
  }

  /** Bytes that are still to be written to the file system that the node sees. */
  long inTheMaking(String node) {
    boolean shared = store.getSpec().sharesFolder();
    return held.stream()
        .filter(it -> !it.written() && (shared || node.equals(it.node())))
        .mapToLong(Held::bytes)
        .sum();
  }

  /** Bytes of a namespace that count against its quota, including those being written. */
  public long bytesOf(String namespace) {
    return bytesOf(namespace, held);
  }

  /** The same for some of the artifacts. */
  long bytesOf(String namespace, List<Held> some) {
    Long known = measured.namespaces().get(namespace);
    return orZero(known)
        + some.stream()
            .filter(artifact -> artifact.namespace().equals(namespace))
            .filter(artifact -> known == null || measured.isBefore(artifact.stored()))
            .mapToLong(Held::bytes)
            .sum();
  }

  /** Bytes of all namespaces that count against the quota, including those being written. */
  public long bytes() {
    return bytes(held);
  }

  /** The same for some of the artifacts. */
  long bytes(List<Held> some) {
    return measured.total()
        + some.stream()
            .filter(artifact -> measured.isBefore(artifact.stored()))
            .mapToLong(Held::bytes)
            .sum();
  }

  public Optional<NodeStore> from(String node) {
    return views.stream().filter(view -> view.node().equals(node)).map(View::seen).findFirst();
  }

  /** Returns that a node has not reported the store; an agent sees a new one a moment later. */
  public Optional<String> unseen(String node) {
    return from(node).isPresent()
        ? Optional.empty()
        : Optional.of(
            "store %s: expected one that node %s can write to, got no report yet"
                .formatted(store.getMetadata().getName(), node));
  }

  private static Optional<Held> held(GpuCheckpoint checkpoint, GpuCheckpointStore store) {
    GpuCheckpointStatus status = checkpoint.getStatus();
    if (status == null) {
      return Optional.empty();
    }
    String namespace = checkpoint.getMetadata().getNamespace();
    String name = checkpoint.getMetadata().getName();
    ArtifactStatus artifact = status.getArtifact();
    if (artifact == null || !store.getMetadata().getName().equals(artifact.getStore())) {
      return Optional.empty();
    }
    long logical = orZero(artifact.getBytes());
    Long added = artifact.getNode() == null ? artifact.getNewBytes() : null;
    Optional<Instant> stored =
        Conditions.of(status)
            .find(ConditionType.STORED)
            .filter(it -> it.status() == ConditionValue.TRUE)
            .map(Condition::lastTransitionTime);
    return Optional.of(
        new Held(
            namespace,
            name,
            added == null ? logical : added,
            logical,
            true,
            null,
            stored.orElse(null)));
  }

  static long orZero(@Nullable Long bytes) {
    return bytes == null ? 0 : bytes;
  }
}
