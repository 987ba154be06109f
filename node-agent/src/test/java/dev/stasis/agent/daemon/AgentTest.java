package dev.stasis.agent.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.testing.KubeNode;
import dev.stasis.agent.testing.Sh;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.node.SelfTest;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentTest {

  /** Worker, self-test and the first look take seconds; a busy machine takes many times that. */
  private static final Duration SAID = Duration.ofSeconds(180);

  @Test
  @Tag("kubelet")
  void aNodeIsPublishedWhateverItHasAndOnlyWrittenWhenSomethingIsNew(@TempDir Path folder)
      throws Exception {
    Path program = new TestPrograms().runtime();
    try (KubeNode node = KubeNode.required()) {
      KubernetesClient client = node.client();
      new Sh()
          .must(
              "kubectl",
              "apply",
              "--server-side",
              "--force-conflicts",
              "-f",
              "../crds/src/main/resources/crds");
      String name = node.name();
      var store = store("s-" + node.namespace(), folder.resolve("store"));
      client.resource(store).create();
      try (Agent agent =
          new Agent(
              new Config(node, folder, program),
              Optional.empty(),
              client,
              new SimpleMeterRegistry(),
              Clock.systemUTC())) {
        agent.start();
        await()
            .atMost(SAID)
            .until(() -> status(client, name).map(GpuNodeStatus::getSelfTest).isPresent());

        GpuNodeStatus status = status(client, name).orElseThrow();
        SelfTest test = Objects.requireNonNull(status.getSelfTest());
        assertThat(test.message()).isNull();
        assertThat(test.moveOutBytesPerSecond()).isPositive();
        assertThat(test.writeBytesPerSecond()).isPositive();
        assertThat(status.getStores())
            .filteredOn(one -> one.name().equals(store.getMetadata().getName()))
            .extracting(NodeStore::writable)
            .containsExactly(true);
        assertThat(Objects.requireNonNull(status.getHost()).getContainerRuntime())
            .startsWith("containerd ");
        assertThat(status.getConditions()).hasSize(1);
        assertThat(status.getReason()).isNotBlank();
        assertThat(agent.isAlive()).isTrue();

        AtomicReference<String> last = new AtomicReference<>("");
        await("that nothing more is written")
            .during(Duration.ofSeconds(5))
            .atMost(SAID)
            .until(
                () -> {
                  String version = version(client, name);
                  return version.equals(last.getAndSet(version));
                });
      } finally {
        client.resource(store).delete();
        client.resources(GpuNode.class).withName(name).delete();
      }
    }
  }

  private static GpuCheckpointStore store(String name, Path folder) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.setMetadata(new ObjectMetaBuilder().withName(name).build());
    GpuCheckpointStoreSpec spec = new GpuCheckpointStoreSpec();
    spec.setLocation(StoreLocation.of(new NodeLocal(folder.toString())));
    store.setSpec(spec);
    return store;
  }

  private static Optional<GpuNodeStatus> status(KubernetesClient client, String name) {
    return Optional.ofNullable(client.resources(GpuNode.class).withName(name).get())
        .map(GpuNode::getStatus);
  }

  private static String version(KubernetesClient client, String name) {
    return client
        .resources(GpuNode.class)
        .withName(name)
        .require()
        .getMetadata()
        .getResourceVersion();
  }

  private record Config(KubeNode node, Path folder, Path runtime) implements AgentConfig {
    @Override
    public String nodeName() {
      return node.name();
    }

    @Override
    public String namespace() {
      return node.namespace();
    }

    @Override
    public Optional<String> pod() {
      return Optional.empty();
    }

    @Override
    public Optional<String> tracesEndpoint() {
      return Optional.empty();
    }

    @Override
    public Path stateDir() {
      return folder.resolve("state");
    }

    @Override
    public Path keeper() {
      return folder.resolve("no-keeper");
    }

    @Override
    public Duration anchorGrace() {
      return Duration.ofSeconds(1);
    }

    @Override
    public Path memoryStage() {
      return folder.resolve("stage");
    }

    @Override
    public Optional<Path> criu() {
      return Optional.empty();
    }

    @Override
    public Path criuDir() {
      return folder.resolve("criu");
    }

    @Override
    public Optional<Path> criSocket() {
      return Optional.of(node.criSocket());
    }

    @Override
    public Path kubeletDir() {
      return node.kubeletDir();
    }

    @Override
    public Optional<Path> podResourcesSocket() {
      return Optional.empty();
    }

    @Override
    public OptionalInt threads() {
      return OptionalInt.of(2);
    }

    @Override
    public Optional<String> transferAddress() {
      return Optional.of("127.0.0.1");
    }

    @Override
    public boolean restoreWithoutAppArmor() {
      return false;
    }

    @Override
    public int verifyMibPerSecond() {
      return 50;
    }

    @Override
    public boolean hugePages() {
      return false;
    }

    @Override
    public boolean stageHugePages() {
      return false;
    }

    @Override
    public int transferPort() {
      return 0;
    }

    @Override
    public Duration heartbeatEvery() {
      return Duration.ofMinutes(1);
    }

    @Override
    public Duration sweepGrace() {
      return Duration.ofHours(1);
    }
  }
}
