package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.store.ImportPolicy;
import dev.stasis.api.v1alpha1.store.NodeLocal;
import dev.stasis.api.v1alpha1.store.SharedPath;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Stores in a real API server, their folders on this node. */
public final class KubernetesStores implements StoreRoots {

  private final KubernetesClient client;

  public KubernetesStores(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Root of(String store) throws ApiUnreachable, Refused {
    GpuCheckpointStore found;
    try {
      found = client.resources(GpuCheckpointStore.class).withName(store).get();
    } catch (KubernetesClientException e) {
      throw new ApiUnreachable("store " + store + ": " + e.getMessage(), e);
    }
    if (found == null) {
      throw new Refused(Faults.of("StoreNotFound", "store", store, "none"));
    }
    ImportPolicy imports = found.getSpec().getImports();
    NodeLocal local = found.getSpec().getNodeLocal();
    if (local != null) {
      return new Root(made(store, Path.of(local.path())), true, imports);
    }
    SharedPath shared = found.getSpec().getSharedPath();
    if (shared == null) {
      throw new Refused(
          Faults.of("StoreNotFound", "store " + store, "a folder on this node", "another kind"));
    }
    Path folder = Path.of(shared.path());
    if (!Files.isDirectory(folder)) {
      throw new Refused(
          Faults.of("StoreNotWritable", "store " + store, "a folder at " + folder, "none"));
    }
    return new Root(folder, false, imports);
  }

  /** A folder of this node alone is made; one that is shared has to be mounted by somebody. */
  private static Path made(String store, Path folder) throws Refused {
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      return folder;
    } catch (IOException e) {
      throw new Refused(
          Faults.of(
              "StoreNotWritable",
              "store " + store,
              "a folder at " + folder,
              String.valueOf(e.getMessage())));
    }
  }
}
