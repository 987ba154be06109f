package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.ClusterParts;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A cluster that is what a test says. */
public final class FakeCluster implements Cluster {

  private static final TestConfig CONFIG = new TestConfig("stasis-system");

  public final List<Pod> pods = new ArrayList<>();
  public final List<Node> nodes = new ArrayList<>();
  public final List<GpuNode> gpuNodes = new ArrayList<>();
  public final List<GpuCheckpointStore> stores = new ArrayList<>();
  public final List<GpuCheckpoint> checkpoints = new ArrayList<>();
  public final List<GpuMigration> migrations = new ArrayList<>();
  public final List<GpuPreemptionPolicy> policies = new ArrayList<>();
  public final List<PriorityClass> priorityClasses = new ArrayList<>();
  public final List<GpuRestore> restores = new ArrayList<>();
  public final Map<String, GpuNodeOperation> operations = new LinkedHashMap<>();

  public final List<ResourceQuota> quotas = new ArrayList<>();
  public final List<LimitRange> ranges = new ArrayList<>();

  /** Name of an operation that comes into the cache between the first look and the second. */
  public @Nullable String late;

  public @Nullable Namespace namespace;

  /** How often the pods of each node were read. */
  public final Map<String, Integer> reads = new HashMap<>();

  @Override
  public <R extends HasMetadata> Optional<R> find(Class<R> kind, String key) {
    return kept(kind, it -> Cache.metaNamespaceKeyFunc(it).equals(key)).stream().findFirst();
  }

  @Override
  public <R extends HasMetadata> List<R> all(Class<R> kind) {
    return kept(kind, it -> true);
  }

  @Override
  public <R extends HasMetadata> List<R> by(String index, String value, Class<R> kind) {
    return kept(kind, it -> ClusterParts.isIn(index, value, it, kind));
  }

  /** As in the product: a decision by a field that the informer does not keep fails here. */
  @SuppressWarnings("unchecked") // the objects of the kind
  private <R extends HasMetadata> List<R> kept(Class<R> kind, Predicate<R> selected) {
    Map<Class<?>, Collection<? extends HasMetadata>> objects =
        Map.of(
            Pod.class, pods,
            Node.class, nodes,
            GpuNode.class, gpuNodes,
            GpuCheckpointStore.class, stores,
            GpuCheckpoint.class, checkpoints,
            GpuMigration.class, migrations,
            GpuRestore.class, restores,
            GpuNodeOperation.class, operations.values(),
            ResourceQuota.class, quotas,
            LimitRange.class, ranges);
    Collection<R> all = (Collection<R>) Objects.requireNonNull(objects.get(kind), kind.getName());
    return all.stream()
        .filter(selected)
        .map(it -> it instanceof Pod pod ? (R) ClusterParts.kept(pod, CONFIG) : it)
        .toList();
  }

  @Override
  public List<GpuPreemptionPolicy> policies() {
    return policies;
  }

  @Override
  public List<PriorityClass> priorityClasses() {
    return priorityClasses;
  }

  @Override
  public Optional<Namespace> namespace(String name) {
    return Optional.ofNullable(namespace).filter(it -> it.getMetadata().getName().equals(name));
  }

  @Override
  public List<Pod> podsOn(String node) {
    reads.merge(node, 1, Integer::sum);
    return Cluster.super.podsOn(node);
  }

  @Override
  public List<GpuNodeOperation> operations(String requesterUid) {
    String hidden = late;
    late = null;
    return Cluster.super.operations(requesterUid).stream()
        .filter(operation -> !operation.getMetadata().getName().equals(hidden))
        .toList();
  }
}
