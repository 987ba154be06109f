package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The operations of a node in a real API server. */
public final class KubernetesOperations implements Operations {

  /** Everything is looked at again from time to time, should a change have been missed. */
  private static final long RESYNC_MILLIS = Duration.ofMinutes(10).toMillis();

  private final KubernetesClient client;
  private final String namespace;
  private final String node;

  /**
   * Operations of a node.
   *
   * @param namespace the operator's
   */
  public KubernetesOperations(KubernetesClient client, String namespace, String node) {
    this.client = client;
    this.namespace = namespace;
    this.node = node;
  }

  @Override
  public List<GpuNodeOperation> all() throws ApiUnreachable {
    try {
      return client
          .resources(GpuNodeOperation.class)
          .inNamespace(namespace)
          .withLabel(Api.NODE_LABEL, node)
          .list()
          .getItems();
    } catch (KubernetesClientException e) {
      throw new ApiUnreachable("operations of node " + node + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Optional<GpuNodeOperation> find(String name) throws ApiUnreachable {
    try {
      return Optional.ofNullable(
          client.resources(GpuNodeOperation.class).inNamespace(namespace).withName(name).get());
    } catch (KubernetesClientException e) {
      throw new ApiUnreachable("operation " + name + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Written writeStatus(GpuNodeOperation operation) {
    try {
      return new Written.Done(client.resource(operation).inNamespace(namespace).updateStatus());
    } catch (KubernetesClientException e) {
      return switch (e.getCode()) {
        case HttpURLConnection.HTTP_CONFLICT -> new Written.Conflict();
        case HttpURLConnection.HTTP_NOT_FOUND -> new Written.Gone();
        default -> new Written.Failed(String.valueOf(e.getMessage()));
      };
    }
  }

  @Override
  public AutoCloseable watch(Watcher watcher) {
    SharedIndexInformer<GpuNodeOperation> informer =
        client
            .resources(GpuNodeOperation.class)
            .inNamespace(namespace)
            .withLabel(Api.NODE_LABEL, node)
            .runnableInformer(RESYNC_MILLIS);
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(GpuNodeOperation operation) {
            watcher.changed(operation);
          }

          @Override
          public void onUpdate(GpuNodeOperation before, GpuNodeOperation operation) {
            watcher.changed(operation);
          }

          @Override
          public void onDelete(GpuNodeOperation operation, boolean unknown) {
            watcher.gone(operation.getMetadata().getName(), operation.getMetadata().getUid());
          }
        });
    // However long the API server is away, the agent waits for it.
    informer.exceptionHandler((started, failure) -> true);
    var unused = informer.start();
    return informer::stop;
  }
}
