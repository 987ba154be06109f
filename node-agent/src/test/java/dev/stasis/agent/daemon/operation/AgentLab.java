package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.daemon.node.Quarantine;
import dev.stasis.agent.daemon.probes.ProbeAnswers;
import dev.stasis.agent.engine.EngineLab;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.api.v1beta1.node.SelfTest;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A node with simulated GPUs, a cluster of files, and an agent that may die and come again. */
final class AgentLab implements AutoCloseable {

  static final String NODE = "node1";

  /** As in production, but no test waits for seconds until something is tried again. */
  static final Intervals BRIEF =
      new Intervals(
          new Intervals.Backoff(Duration.ofMillis(200), Duration.ofSeconds(1)),
          new Intervals.Backoff(Duration.ofMillis(50), Duration.ofMillis(200)),
          Duration.ofMillis(200),
          Duration.ofMinutes(2),
          Duration.ofMillis(50),
          Duration.ofMillis(200));

  private static final ObjectMapper JSON = new ObjectMapper();

  /** A test does not wait for it. */
  private static final int VERIFY_MIB_PER_SECOND = 10_000;

  private final EngineLab engine;
  private final FileCluster cluster;
  private final LabNode node;
  private final Transfers transfers = transfers();
  private MeterRegistry metrics = new SimpleMeterRegistry();
  private Intervals intervals = BRIEF;
  private boolean hugePages;
  private @Nullable OperationAgent agent;

  AgentLab(int gpus, int mib) {
    engine = new EngineLab(gpus, mib);
    cluster = new FileCluster(engine.folder().resolve("cluster"), engine.store());
    node = new LabNode(engine.folder().resolve("node"));
  }

  static AgentParts parts(
      FileCluster cluster,
      LabNode node,
      Path state,
      NodeEngine engine,
      Transfers transfers,
      boolean hugePages,
      Intervals intervals,
      MeterRegistry metrics) {
    return new AgentParts(
        NODE,
        "agent-" + ProcessHandle.current().pid(),
        engine,
        cluster,
        node,
        node,
        node,
        new ProbeAnswers(Path.of("/nonexistent"), new ProcFs()),
        SelfTest::none,
        new Quarantine(state.resolve("fenced"), engine.bootId(), () -> {}),
        () -> {},
        new OperationMetrics(metrics),
        new OperationTraces(NODE, Spans.NONE),
        transfers,
        hugePages,
        VERIFY_MIB_PER_SECOND,
        intervals,
        Clock.systemUTC());
  }

  /** Streams over the loopback. */
  static Transfers transfers() {
    AgentKey key = AgentKey.generate(NODE, Clock.systemUTC());
    InetAddress here = InetAddress.getLoopbackAddress();
    try {
      return new Transfers(
          key, new StreamReceiver(key, new InetSocketAddress(here, 0)), here.getHostAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its certificate, as its GpuNode would publish it. */
  String certificate() {
    return transfers.key().pem();
  }

  /** Agents that are started from now on wait so long for room. */
  void waitForRoom(Duration limit) {
    intervals =
        new Intervals(
            intervals.thaw(),
            intervals.statusWrite(),
            intervals.progress(),
            limit,
            intervals.roomPoll(),
            intervals.leftovers());
  }

  /** Agents that are started from now on may raise the machine's huge pages. */
  void allowHugePages() {
    hugePages = true;
  }

  /** Starts an agent in this process. */
  OperationAgent start() throws InterruptedException {
    return start(engine.engine());
  }

  /** The same with another engine on this node. */
  OperationAgent start(NodeEngine with) throws InterruptedException {
    OperationAgent made =
        new OperationAgent(
            parts(cluster, node, engine.state(), with, transfers, hugePages, intervals, metrics));
    made.start();
    agent = made;
    return made;
  }

  void stop() throws InterruptedException {
    if (agent != null) {
      agent.stop(Duration.ofSeconds(60));
      agent = null;
    }
  }

  /** Returns what the agents that are started from now on count. */
  MeterRegistry freshMetrics() {
    metrics = new SimpleMeterRegistry();
    return metrics;
  }

  /** Removes the operations from the journals: an earlier version wrote none. */
  void forgetOperations() throws IOException {
    editJournals(journal -> assertThat(journal.remove("operation")).isNotNull());
  }

  /** Changes every journal of a workload, as an agent of another version left it. */
  void editJournals(Consumer<ObjectNode> change) throws IOException {
    for (Work work : engine.engine().thaw().inHand()) {
      Path file = engine.state().resolve("work").resolve(work.containerId()).resolve("work.json");
      ObjectNode journal = (ObjectNode) JSON.readTree(file.toFile());
      change.accept(journal);
      JSON.writeValue(file.toFile(), journal);
    }
  }

  /** The GPUs on which agents start no work. */
  Set<String> fenced() {
    return quarantine().fenced().keySet();
  }

  /** Ends the fencing of all GPUs, as a reboot does. */
  void endFencing() {
    Quarantine quarantine = quarantine();
    quarantine.fenced().keySet().forEach(quarantine::release);
  }

  private Quarantine quarantine() {
    return new Quarantine(engine.state().resolve("fenced"), engine.engine().bootId(), () -> {});
  }

  EngineLab engine() {
    return engine;
  }

  /** Waits until the driver holds that call. */
  void awaitHeld(String call) {
    Awaitility.await("the driver's call " + call)
        .atMost(FileCluster.LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> engine.gpus().isHeld(call));
  }

  FileCluster cluster() {
    return cluster;
  }

  LabNode node() {
    return node;
  }

  /** A pod and its container. */
  record Placed(Pod pod, GpuContainer container) implements AutoCloseable {
    String name() {
      return pod.getMetadata().getName();
    }

    String uid() {
      return pod.getMetadata().getUid();
    }

    @Override
    public void close() {
      container.close();
    }
  }

  /** Starts the container of a pod. */
  Placed pod(String name, ContainerSpec spec, Map<String, String> labels) {
    GpuContainer container = GpuContainer.start(spec);
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace("ml")
            .withUid(UUID.randomUUID().toString())
            .withLabels(labels)
            .endMetadata()
            .withNewSpec()
            .withNodeName(NODE)
            .addNewContainer()
            .withName("main")
            .withImage("counter:test")
            .endContainer()
            .endSpec()
            .withNewStatus()
            .withPodIP("127.0.0.1")
            .endStatus()
            .build();
    cluster.put(pod);
    node.add(
        new LabNode.Entry(
            "ml",
            name,
            pod.getMetadata().getUid(),
            "main",
            container.id(),
            container.pid(),
            gpus(spec.visible()),
            container.volumes()));
    return new Placed(pod, container);
  }

  private List<String> gpus(List<Integer> visible) {
    return visible.stream().map(engine::uuid).toList();
  }

  @Override
  public void close() throws InterruptedException {
    stop();
    transfers.close();
    engine.close();
  }
}
