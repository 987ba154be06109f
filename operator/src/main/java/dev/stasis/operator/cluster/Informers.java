package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
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

  @SuppressWarnings("unchecked") // the informer of the kind
  private <R extends HasMetadata> SharedInformer<R> watched(Class<R> kind) {
    SharedInformer<?> watched = kinds.get(kind);
    if (watched == null) {
      throw new IllegalArgumentException(
          "kind: expected one of " + kinds.keySet() + ", got " + kind);
    }
    return (SharedInformer<R>) watched;
  }

  /** Returns whether a namespace has objects of a kind. Does not read them. */
  public boolean has(String namespace, Class<? extends HasMetadata> kind) {
    return watched(kind).has(SharedInformers.BY_NAMESPACE, namespace);
  }

  @Override
  public <R extends HasMetadata> Optional<R> find(Class<R> kind, String key) {
    return watched(kind).get(key);
  }

  @Override
  public <R extends HasMetadata> List<R> all(Class<R> kind) {
    return watched(kind).all();
  }

  @Override
  @SuppressWarnings("unchecked") // R is the kind
  public <R extends HasMetadata> List<R> by(String index, String value, Class<R> kind) {
    return kind == GpuNodeOperation.class
        ? (List<R>) operations(index, value)
        : watched(kind).by(index, value);
  }

  private List<GpuNodeOperation> operations(String index, String value) {
    Function<GpuNodeOperation, List<String>> values =
        Objects.requireNonNull(SharedInformers.indexers(GpuNodeOperation.class).get(index), index);
    return unseen.with(
        () -> watched(GpuNodeOperation.class).by(index, value),
        operation -> values.apply(operation).contains(value));
  }
}
