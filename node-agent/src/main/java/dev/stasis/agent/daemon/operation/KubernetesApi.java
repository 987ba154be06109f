package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The API server of a real cluster. */
public final class KubernetesApi implements ClusterApi {

  /** Reports everything again periodically, in case a change was missed. */
  private static final long RESYNC_MILLIS = Duration.ofMinutes(10).toMillis();

  private final KubernetesClient client;
  private final String namespace;
  private final String node;
  private final RemoteStores remotes;

  /**
   * Creates the API of one node.
   *
   * @param namespace the operator's namespace
   */
  public KubernetesApi(
      KubernetesClient client, String namespace, String node, RemoteStores remotes) {
    this.client = client;
    this.remotes = remotes;
    this.namespace = namespace;
    this.node = node;
  }

  @Override
  public List<GpuNodeOperation> operations() throws ApiUnreachable {
    return ask(
        "operations of node " + node,
        () ->
            client
                .resources(GpuNodeOperation.class)
                .inNamespace(namespace)
                .withLabel(Api.NODE_LABEL, node)
                .list()
                .getItems());
  }

  @Override
  public Optional<GpuNodeOperation> operation(String name) throws ApiUnreachable {
    return ask(
        "operation " + name,
        () ->
            Optional.ofNullable(
                client
                    .resources(GpuNodeOperation.class)
                    .inNamespace(namespace)
                    .withName(name)
                    .get()));
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
    // The agent waits for the API server without a limit.
    informer.exceptionHandler((started, failure) -> true);
    var unused = informer.start();
    return informer::stop;
  }

  @Override
  public Optional<Pod> pod(String inNamespace, String name) throws ApiUnreachable {
    return ask(
        "pod " + inNamespace + "/" + name,
        () -> Optional.ofNullable(client.pods().inNamespace(inNamespace).withName(name).get()));
  }

  @Override
  public StoreRoot store(String name) throws ApiUnreachable, Refused {
    String store = "store " + name;
    GpuCheckpointStore found =
        ask(
                store,
                () ->
                    Optional.ofNullable(
                        client.resources(GpuCheckpointStore.class).withName(name).get()))
            .orElseThrow(() -> new Refused("StoreNotFound", "store", name, "none"));
    GpuCheckpointStoreSpec spec = found.getSpec();
    Path folder = Path.of(spec.folder(name));
    if (!spec.sharesFolder()) {
      create(store, folder);
    } else if (!Files.isDirectory(folder)) {
      throw new Refused("StoreNotWritable", store, "a folder at " + folder, "none");
    }
    RemotePlace remote =
        spec.uploads()
            ? new RemotePlace(
                found.getMetadata().getUid(),
                spec.promises(),
                () -> remotes.open(found),
                () -> remotes.requireKeys(found),
                refusal(found))
            : null;
    return new StoreRoot(folder, !spec.sharesFolder(), spec.getOptions().getImports(), remote);
  }

  /** A claim that is being deleted can still be read. */
  private static @Nullable String refusal(GpuCheckpointStore store) {
    return Optional.ofNullable(store.getStatus())
        .map(GpuCheckpointStoreStatus::getVolume)
        .map(VolumeStatus::message)
        .orElse(null);
  }

  /** A folder of this node alone is created; an administrator mounts a shared one. */
  private static void create(String store, Path folder) throws Refused {
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (IOException e) {
      throw new Refused(
          "StoreNotWritable", store, "a folder at " + folder, String.valueOf(e.getMessage()));
    }
  }

  private static <T> T ask(String what, Supplier<T> request) throws ApiUnreachable {
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      throw new ApiUnreachable(what + ": " + e.getMessage(), e);
    }
  }
}
