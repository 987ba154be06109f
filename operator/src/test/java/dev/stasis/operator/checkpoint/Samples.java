package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A pod with one GPU on a node with an agent, and what one asks of it. */
final class Samples {

  /** What the workload needs of a place. */
  static final String FINGERPRINT =
      "cpu.architecture=amd64\n"
          + "gpu.computeCapability=9.0\n"
          + "gpu.count=1\n"
          + "gpu.driver=580.1\n"
          + "gpu.memoryMiB=143771\n"
          + "gpu.model=NVIDIA H200\n";

  private Samples() {}

  /** All of it, and a GpuCheckpoint with that. */
  static World world(Consumer<GpuCheckpointSpec> spec) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName("train-1")
            .withUid("uid-1")
            .withGeneration(1L)
            .withCreationTimestamp(World.START.toString())
            .build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    spec.accept(checkpoint.getSpec());
    World world = new World(checkpoint);
    world.cluster.namespace =
        new NamespaceBuilder()
            .withNewMetadata()
            .withName("ml")
            .withUid("namespace-1")
            .endMetadata()
            .build();
    world.cluster.pods.add(pod());
    world.cluster.nodes.add(node("gpu-17"));
    world.cluster.gpuNodes.add(gpuNode("gpu-17", World.START));
    world.cluster.stores.add(store("local"));
    return world;
  }

  static World world(AfterCheckpoint after) {
    return world(spec -> spec.setAfterCheckpoint(after));
  }

  static World world(AfterCheckpoint after, Map<String, String> annotations) {
    World world = world(after);
    world.checkpoint.getMetadata().setAnnotations(annotations);
    return world;
  }

  static Pod pod() {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName("trainer")
        .withUid("pod-1")
        .endMetadata()
        .withNewSpec()
        .withNodeName("gpu-17")
        .addNewContainer()
        .withName("main")
        .withImage("trainer:1")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .addToLimits("memory", new Quantity("4Gi"))
        .addToRequests("memory", new Quantity("2Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Running")
        .endStatus()
        .build();
  }

  static Pod startedAnew(Pod pod, String containerId) {
    return new PodBuilder(pod)
        .editStatus()
        .addNewContainerStatus()
        .withName("main")
        .withContainerID(containerId)
        .endContainerStatus()
        .endStatus()
        .build();
  }

  static Node node(String name) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .addToAllocatable("memory", new Quantity("64Gi"))
        .withNewNodeInfo()
        .withKubeletVersion("v1.36.2")
        .endNodeInfo()
        .endStatus()
        .build();
  }

  static GpuNode gpuNode(String name, Instant heartbeat) {
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(name).build());
    GpuNodeStatus status = new GpuNodeStatus();
    status.setAgent(new AgentIdentity("0.1", "agent-x", heartbeat, heartbeat, null, null));
    NodeHost host = new NodeHost();
    host.setBootId("boot-1");
    host.setDriver("580.1");
    host.setFingerprint("cpu.architecture=amd64\n");
    status.setHost(host);
    status.setGpus(
        List.of(
            new NodeGpu(
                "GPU-1",
                0,
                "NVIDIA H200",
                143_771L << 20,
                "140.4Gi",
                "0000:18:00.0",
                "9.0",
                false,
                0,
                false,
                null)));
    status.setStores(List.of(new NodeStore("local", true, null, 1L << 42, 1L << 41, "2Ti", 0L, 0)));
    node.setStatus(status);
    return node;
  }

  static GpuCheckpointStore store(String name) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.setMetadata(new ObjectMetaBuilder().withName(name).build());
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis")));
    store.getSpec().setIsDefault(true);
    return store;
  }

  static Map<String, Quantity> memory(Pod pod) {
    return pod.getSpec().getContainers().get(0).getResources().getLimits();
  }
}
