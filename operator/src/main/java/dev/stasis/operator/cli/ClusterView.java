package dev.stasis.operator.cli;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.uninstall.InstalledResources;
import dev.stasis.operator.uninstall.Step;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The uninstall's access to a cluster. It watches from its creation until it is closed. */
class ClusterView implements AutoCloseable {

  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "GpuCheckpoint", GpuCheckpoint.class,
          "GpuRestore", GpuRestore.class,
          "GpuMigration", GpuMigration.class);

  private final KubernetesClient client;
  private final Semaphore changes = new Semaphore(0);
  private final SharedIndexInformer<GpuCheckpoint> checkpoints;
  private final SharedIndexInformer<GpuRestore> restores;
  private final SharedIndexInformer<GpuMigration> migrations;
  private final SharedIndexInformer<GpuNodeOperation> operations;
  private final SharedIndexInformer<GpuNode> nodes;
  private final Map<String, Boolean> removed = new HashMap<>();

  /** Uses the namespace of the operations. */
  ClusterView(KubernetesClient client, String system) {
    this.client = client;
    checkpoints = client.resources(GpuCheckpoint.class).inAnyNamespace().inform(changed());
    restores = client.resources(GpuRestore.class).inAnyNamespace().inform(changed());
    migrations = client.resources(GpuMigration.class).inAnyNamespace().inform(changed());
    operations = client.resources(GpuNodeOperation.class).inNamespace(system).inform(changed());
    nodes = client.resources(GpuNode.class).inform(changed());
  }

  /** Returns the objects that the watches have shown so far. */
  InstalledResources read() {
    List<GpuNode> gpuNodes = nodes.getStore().list();
    return new InstalledResources(
        checkpoints.getStore().list(),
        restores.getStore().list(),
        migrations.getStore().list(),
        operations.getStore().list(),
        gpuNodes,
        removed(gpuNodes));
  }

  private Set<String> removed(List<GpuNode> gpuNodes) {
    return gpuNodes.stream()
        .filter(ClusterView::reportsFrozen)
        .map(it -> it.getMetadata().getName())
        .filter(name -> removed.computeIfAbsent(name, this::isRemoved))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static boolean reportsFrozen(GpuNode node) {
    return Optional.ofNullable(node.getStatus())
        .map(GpuNodeStatus::getFrozen)
        .filter(frozen -> !frozen.isEmpty())
        .isPresent();
  }

  /**
   * Asked once for each node, because the nodes of a large cluster do not fit into the memory of
   * the job. The next uninstall finds a node that is removed later. One attempt takes at most 10 s,
   * the default of the client; the job's own deadline limits all of them.
   */
  private boolean isRemoved(String node) {
    return client.nodes().withName(node).get() == null;
  }

  /** Returns false if it was deleted after it was read, which is equivalent. */
  boolean take(Step step) {
    try {
      client
          .resources(KINDS.get(step.kind()))
          .inNamespace(step.namespace())
          .withName(step.name())
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              client.getKubernetesSerialization().asJson(step.patch()));
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  /** Returns after a change, or after a time. */
  void awaitChange(Duration atMost) throws InterruptedException {
    if (changes.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
      changes.drainPermits();
    }
  }

  private <T extends HasMetadata> ResourceEventHandler<T> changed() {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(T object) {
        changes.release();
      }

      @Override
      public void onUpdate(T before, T after) {
        changes.release();
      }

      @Override
      public void onDelete(T object, boolean unknown) {
        changes.release();
      }
    };
  }

  @Override
  public void close() {
    List.of(checkpoints, restores, migrations, operations, nodes)
        .forEach(SharedIndexInformer::close);
  }
}
