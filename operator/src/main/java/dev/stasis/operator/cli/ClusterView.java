package dev.stasis.operator.cli;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.cluster.ChangeHandler;
import dev.stasis.operator.uninstall.InstalledResources;
import dev.stasis.operator.uninstall.Step;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The uninstall's access to a cluster. It watches from its creation until it is closed. */
class ClusterView implements UninstallCluster, AutoCloseable {

  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "GpuCheckpoint", GpuCheckpoint.class,
          "GpuRestore", GpuRestore.class,
          "GpuMigration", GpuMigration.class);

  /** Its pods have a grace period of 30 s; it uses less than a second. */
  private static final Duration ENDS = Duration.ofSeconds(60);

  private final KubernetesClient client;
  private final String system;
  private final String operator;
  private final Semaphore changes = new Semaphore(0);
  private SharedIndexInformer<GpuCheckpoint> checkpoints;
  private SharedIndexInformer<GpuRestore> restores;
  private SharedIndexInformer<GpuMigration> migrations;
  private SharedIndexInformer<GpuNodeOperation> operations;
  private SharedIndexInformer<GpuNode> nodes;
  private final Map<String, Boolean> removed = new HashMap<>();

  /** Replicas of the operator before it was stopped. An uninstall that was killed left none. */
  private volatile int replicas = 1;

  /**
   * @param system namespace of the operator and of the operations
   * @param operator name of the operator's Deployment
   */
  ClusterView(KubernetesClient client, String system, String operator) {
    this.client = client;
    this.system = system;
    this.operator = operator;
    watch();
  }

  private void watch() {
    checkpoints =
        client
            .resources(GpuCheckpoint.class)
            .inAnyNamespace()
            .inform(new ChangeHandler<>(changes::release));
    restores =
        client
            .resources(GpuRestore.class)
            .inAnyNamespace()
            .inform(new ChangeHandler<>(changes::release));
    migrations =
        client
            .resources(GpuMigration.class)
            .inAnyNamespace()
            .inform(new ChangeHandler<>(changes::release));
    operations =
        client
            .resources(GpuNodeOperation.class)
            .inNamespace(system)
            .inform(new ChangeHandler<>(changes::release));
    nodes = client.resources(GpuNode.class).inform(new ChangeHandler<>(changes::release));
  }

  /** Returns the objects that the watches have shown so far. */
  @Override
  public InstalledResources read() {
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

  @Override
  public boolean take(Step step) {
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

  @Override
  public void awaitChange(Duration atMost) throws InterruptedException {
    if (changes.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
      changes.drainPermits();
    }
  }

  /** The watches begin again afterwards: they show all that it has written. */
  @Override
  public boolean stopOperator() throws InterruptedException {
    Deployment deployment = deployment();
    if (deployment == null) {
      return true;
    }
    replicas = Math.max(1, deployment.getSpec().getReplicas());
    scale(0);
    try {
      client
          .pods()
          .inNamespace(system)
          .withLabelSelector(deployment.getSpec().getSelector())
          // One that was evicted from its node has ended, and stays.
          .withoutField("status.phase", "Failed")
          .informOnCondition(List::isEmpty)
          .get(ENDS.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
    close();
    watch();
    return true;
  }

  @Override
  public void startOperator() {
    Deployment deployment = deployment();
    if (deployment != null && deployment.getSpec().getReplicas() == 0) {
      scale(replicas);
    }
  }

  private @Nullable Deployment deployment() {
    return client.apps().deployments().inNamespace(system).withName(operator).get();
  }

  private void scale(int to) {
    client
        .apps()
        .deployments()
        .inNamespace(system)
        .withName(operator)
        .subresource("scale")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":%d}}".formatted(to));
  }

  @Override
  public void close() {
    List.of(checkpoints, restores, migrations, operations, nodes)
        .forEach(SharedIndexInformer::close);
  }
}
