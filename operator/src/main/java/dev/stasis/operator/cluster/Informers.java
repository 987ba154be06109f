package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The shared informers. They start with the first event source that uses them. */
@Singleton
public class Informers implements Cluster {

  /** As long as the framework waits for its own initial lists; see application.properties. */
  private static final long FIRST_LIST_SECONDS = 120;

  private final Map<Class<? extends HasMetadata>, SharedInformer<?>> kinds;
  private final CreationExpectations unseen = new CreationExpectations();
  private @Nullable CompletableFuture<Void> lists;

  /** Sends no request yet. */
  public Informers(KubernetesClient client, StasisConfig config) {
    this.kinds = new SharedInformers(client, config).all();
    listen(GpuNodeOperation.class, change -> unseen.forget(change.subject()));
  }

  /** Adds an operation that was created; the watch may show it later. */
  public void made(GpuNodeOperation operation) {
    unseen.made(operation);
  }

  /** Removes an operation that was deleted. */
  public void letGo(GpuNodeOperation operation) {
    unseen.forget(operation);
  }

  /**
   * Starts the watches and waits for the first lists, so that an empty cache means that there is
   * nothing.
   *
   * @throws IllegalStateException when the API server does not answer in time, or forbids it
   */
  public synchronized void start() {
    if (lists == null) {
      lists =
          CompletableFuture.allOf(
              kinds.values().stream()
                  .map(kind -> kind.informer().start().toCompletableFuture())
                  .toArray(CompletableFuture[]::new));
    }
    try {
      lists.get(FIRST_LIST_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("initial lists: " + e.getMessage(), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "initial lists: not complete within " + FIRST_LIST_SECONDS + "s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the initial lists", e);
    }
  }

  @PreDestroy
  public void stop() {
    kinds.values().forEach(kind -> kind.informer().stop());
  }

  synchronized boolean hasStarted() {
    return lists != null;
  }

  /** Returns the kinds with a watch that has ended. */
  public List<String> ended() {
    return kinds.entrySet().stream()
        .filter(kind -> !kind.getValue().informer().isRunning())
        .map(kind -> kind.getKey().getSimpleName())
        .toList();
  }

  /**
   * Adds a listener for changes of a kind. It runs on the thread of the watch and must be quick.
   */
  public <R extends HasMetadata> void listen(Class<R> kind, Consumer<Changed<R>> listener) {
    watched(kind).listen(listener);
  }

  <R extends HasMetadata> void forget(Class<R> kind, Consumer<Changed<R>> listener) {
    watched(kind).forget(listener);
  }

  @SuppressWarnings("unchecked") // only add() puts values
  private <R extends HasMetadata> SharedInformer<R> watched(Class<R> kind) {
    SharedInformer<?> watched = kinds.get(kind);
    if (watched == null) {
      throw new IllegalArgumentException(
          "kind: expected one of " + kinds.keySet() + ", got " + kind);
    }
    return (SharedInformer<R>) watched;
  }

  @Override
  public Optional<Pod> pod(String namespace, String name) {
    return watched(Pod.class).get(namespace, name);
  }

  @Override
  public List<Pod> pods(String namespace) {
    return watched(Pod.class).by(Cache.NAMESPACE_INDEX, namespace);
  }

  @Override
  public List<Pod> podsWithoutNode() {
    return watched(Pod.class).by(SharedInformers.BY_NODE, SharedInformers.NO_NODE);
  }

  @Override
  public List<Pod> podsOn(String node) {
    return watched(Pod.class).by(SharedInformers.BY_NODE, node);
  }

  @Override
  public Optional<Node> node(String name) {
    return watched(Node.class).get(name);
  }

  @Override
  public List<Node> nodes() {
    return watched(Node.class).all();
  }

  @Override
  public Optional<GpuNode> gpuNode(String name) {
    return watched(GpuNode.class).get(name);
  }

  @Override
  public List<GpuNode> gpuNodes() {
    return watched(GpuNode.class).all();
  }

  @Override
  public Optional<GpuCheckpointStore> store(String name) {
    return watched(GpuCheckpointStore.class).get(name);
  }

  @Override
  public List<GpuCheckpointStore> stores() {
    return watched(GpuCheckpointStore.class).all();
  }

  @Override
  public Optional<GpuCheckpoint> checkpoint(String namespace, String name) {
    return watched(GpuCheckpoint.class).get(namespace, name);
  }

  @Override
  public List<GpuCheckpoint> checkpoints(String namespace) {
    return watched(GpuCheckpoint.class).by(Cache.NAMESPACE_INDEX, namespace);
  }

  /** Returns all GpuCheckpoints. */
  public List<GpuCheckpoint> checkpoints() {
    return watched(GpuCheckpoint.class).all();
  }

  @Override
  public List<GpuCheckpoint> checkpointsOf(String namespace, String pod) {
    return watched(GpuCheckpoint.class).by(SharedInformers.BY_POD, namespace + "/" + pod);
  }

  @Override
  public List<GpuCheckpoint> checkpointsFor(String uid) {
    return watched(GpuCheckpoint.class).by(SharedInformers.BY_REQUESTER, uid);
  }

  @Override
  public List<GpuCheckpoint> checkpointsIn(String store) {
    return watched(GpuCheckpoint.class).by(SharedInformers.BY_STORE, store);
  }

  /** Returns all GpuRestores. */
  public List<GpuRestore> restores() {
    return watched(GpuRestore.class).all();
  }

  @Override
  public List<GpuRestore> restores(String namespace) {
    return watched(GpuRestore.class).by(Cache.NAMESPACE_INDEX, namespace);
  }

  @Override
  public List<GpuRestore> restoresFor(String uid) {
    return watched(GpuRestore.class).by(SharedInformers.BY_REQUESTER, uid);
  }

  @Override
  public List<GpuRestore> restoresOf(String namespace, String checkpoint) {
    return watched(GpuRestore.class)
        .by(SharedInformers.BY_CHECKPOINT, namespace + "/" + checkpoint);
  }

  @Override
  public List<GpuMigration> migrations() {
    return watched(GpuMigration.class).all();
  }

  @Override
  public List<GpuNodeOperation> operations(String requesterUid) {
    return operations(SharedInformers.BY_REQUESTER, requesterUid);
  }

  @Override
  public List<GpuNodeOperation> operationsOn(String podUid) {
    return operations(SharedInformers.BY_POD, podUid);
  }

  @Override
  public List<GpuNodeOperation> operationsOf(String node) {
    return operations(SharedInformers.BY_NODE, node);
  }

  @Override
  public List<GpuNodeOperation> operationsIn(String store) {
    return operations(SharedInformers.BY_STORE, store);
  }

  private List<GpuNodeOperation> operations(String index, String value) {
    SharedInformer<GpuNodeOperation> watched = watched(GpuNodeOperation.class);
    Function<GpuNodeOperation, List<String>> values =
        Objects.requireNonNull(SharedInformers.operationIndexers().get(index), index);
    return unseen.with(
        () -> watched.by(index, value), operation -> values.apply(operation).contains(value));
  }

  @Override
  public List<GpuPreemptionPolicy> policies() {
    return watched(GpuPreemptionPolicy.class).all();
  }

  @Override
  public List<PriorityClass> priorityClasses() {
    return watched(PriorityClass.class).all();
  }

  @Override
  public Optional<Namespace> namespace(String name) {
    return watched(Namespace.class).get(name);
  }

  @Override
  public List<ResourceQuota> quotas(String namespace) {
    return watched(ResourceQuota.class).by(Cache.NAMESPACE_INDEX, namespace);
  }

  @Override
  public List<LimitRange> ranges(String namespace) {
    return watched(LimitRange.class).by(Cache.NAMESPACE_INDEX, namespace);
  }
}
