package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeStore;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Nodes and running pods that exist in the API server only. Their agents give signs of life. */
final class FakeNodes implements AutoCloseable {

  /** Enough for 1,000 nodes on a busy machine; with four, leases were renewed too late. */
  private static final int THREADS = 16;

  /** As often as agents do. */
  private static final long HEARTBEAT_SECONDS = 60;

  /** A kubelet renews its lease each 10 s; a node without a new one for 50 s is not ready. */
  private static final long LEASE_SECONDS = 30;

  private static final String LEASES = "kube-node-lease";

  /** Of a lease. */
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", Locale.ROOT);

  static final String STORE = "local";

  /** As many as a kubelet tells, by tag and by digest. */
  private static final List<ContainerImage> IMAGES =
      IntStream.range(0, 50)
          .mapToObj(
              index ->
                  new ContainerImage(
                      List.of(
                          "registry.example.com/team/service-%d@sha256:%064x"
                              .formatted(index, index),
                          "registry.example.com/team/service-%d:1.42.0".formatted(index)),
                      100_000_000L + index))
          .toList();

  /**
   * What an agent reports of a host of today, with as many features of the processor. The operator
   * compares it with the requirements of each checkpoint.
   */
  static final String HOST =
      """
      cpu.architecture=amd64
      cpu.features=%s
      criu.version=4.2.1
      kernel.cgroupVersion=2
      kernel.hiddenFolders=/proc/acpi /sys/firmware
      kernel.inotifyInstances=8192
      kernel.inotifyWatches=524288
      kernel.ioUring=yes
      kernel.ipv6=yes
      kernel.maxMapCount=262144
      kernel.memfdExec=yes
      kernel.overcommit=yes
      kernel.pidMax=4194304
      kernel.throttledCpus=96
      kernel.timeNamespaces=yes
      kernel.version=6.8
      kubelet.podPidsLimit=4096
      """
          .formatted(
              IntStream.range(0, 140)
                  .mapToObj("feature%03d"::formatted)
                  .collect(Collectors.joining(" ")));

  private static final int GPUS = 8;
  private static final long GPU_BYTES = 141L << 30;
  private static final long NODE_BYTES = 2L << 40;

  private final KubernetesClient admin;
  private final ScheduledExecutorService heart = Executors.newScheduledThreadPool(THREADS);
  private final Queue<Future<?>> beats = new ConcurrentLinkedQueue<>();

  FakeNodes(KubernetesClient admin) {
    this.admin = admin;
  }

  @Override
  public void close() {
    assertThat(beats).as("signs of life").noneMatch(Future::isDone);
    heart.shutdownNow();
  }

  private void beat(String name, GpuNodeStatus facts) {
    AgentIdentity agent = Objects.requireNonNull(facts.getAgent());
    facts.setAgent(
        new AgentIdentity(
            agent.version(), agent.pod(), agent.startTime(), Instant.now(), null, null));
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(name).build());
    node.setStatus(facts);
    admin.resources(GpuNode.class).resource(node).patchStatus();
  }

  /** The node stays ready. Otherwise each of them would fall silent during a benchmark. */
  private void renew(String name) {
    admin
        .leases()
        .inNamespace(LEASES)
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"renewTime\":\"%s\"}}"
                .formatted(MICROS.format(Instant.now().atOffset(ZoneOffset.UTC))));
  }

  void node(String name) {
    admin
        .leases()
        .inNamespace(LEASES)
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(name)
                .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC))
                .endSpec()
                .build())
        .create();
    beats.add(
        heart.scheduleAtFixedRate(
            () -> renew(name),
            ThreadLocalRandom.current().nextLong(LEASE_SECONDS),
            LEASE_SECONDS,
            TimeUnit.SECONDS));
    admin
        .nodes()
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .addToCapacity("nvidia.com/gpu", new Quantity(Integer.toString(GPUS)))
                .addToAllocatable("nvidia.com/gpu", new Quantity(Integer.toString(GPUS)))
                .addToAllocatable("memory", new Quantity("2Ti"))
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .withReason("Fake")
                .endCondition()
                .withImages(IMAGES)
                .endStatus()
                .build())
        .create();
    GpuNode gpus = new GpuNode();
    gpus.setMetadata(new ObjectMetaBuilder().withName(name).build());
    GpuNode made = admin.resources(GpuNode.class).resource(gpus).create();
    GpuNodeStatus facts = facts(name);
    made.setStatus(facts);
    admin.resources(GpuNode.class).resource(made).updateStatus();
    // At different times, as agents do.
    beats.add(
        heart.scheduleAtFixedRate(
            () -> beat(name, facts),
            ThreadLocalRandom.current().nextLong(HEARTBEAT_SECONDS),
            HEARTBEAT_SECONDS,
            TimeUnit.SECONDS));
  }

  private static GpuNodeStatus facts(String name) {
    GpuNodeStatus facts = new GpuNodeStatus();
    facts.setAgent(
        new AgentIdentity("bench", "agent-" + name, Instant.now(), Instant.now(), null, null));
    NodeHost host = new NodeHost();
    host.setArchitecture("x86_64");
    host.setKernel("6.8.0");
    host.setDriver("580.159.04");
    host.setCriu("4.2.1");
    host.setMemoryBytes(NODE_BYTES);
    host.setFingerprint(HOST);
    facts.setHost(host);
    facts.setGpus(
        IntStream.range(0, GPUS)
            .mapToObj(
                index ->
                    new NodeGpu(
                        "GPU-" + name + "-" + index,
                        index,
                        "NVIDIA H200",
                        GPU_BYTES,
                        "141Gi",
                        null,
                        "9.0",
                        false,
                        null,
                        null,
                        null))
            .toList());
    facts.setGpuModel("NVIDIA H200");
    facts.setGpuCount(GPUS);
    facts.setCapabilities(List.copyOf(EnumSet.complementOf(EnumSet.of(Capability.UNRECOGNIZED))));
    facts.setStores(
        List.of(
            new NodeStore(
                STORE, true, null, 4 * NODE_BYTES, 3 * NODE_BYTES, "6Ti", NODE_BYTES, 0)));
    return facts;
  }

  /** A pod that runs, as far as the API server knows. */
  void pod(String namespace, String name, String node) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withNodeName(node)
            // The node has no kubelet: nobody shall evict what is on it.
            .addNewToleration()
            .withOperator("Exists")
            .endToleration()
            .addNewContainer()
            .withName(Workload.CONTAINER)
            .withImage("busybox")
            .withNewResources()
            .addToLimits("nvidia.com/gpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .build();
    Pod made = admin.pods().inNamespace(namespace).resource(pod).create();
    admin
        .pods()
        .inNamespace(namespace)
        .resource(
            new PodBuilder(made)
                .withNewStatus()
                .withPhase("Running")
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .withContainerStatuses(
                    new ContainerStatusBuilder()
                        .withName(Workload.CONTAINER)
                        .withContainerID("containerd://" + name)
                        .withImage("busybox")
                        .withImageID("sha256:00")
                        .withReady(true)
                        .withStarted(true)
                        .withRestartCount(0)
                        .withNewState()
                        .withNewRunning(Instant.now().toString())
                        .endState()
                        .build())
                .endStatus()
                .build())
        .updateStatus();
  }
}
