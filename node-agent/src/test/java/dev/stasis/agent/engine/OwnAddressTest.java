package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import dev.stasis.artifact.InterfaceAddress;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Programs that bind sockets to the address of their pod, which is another one after a restore. */
@SuppressWarnings("NullAway") // made before each test
class OwnAddressTest {

  private static final int MIB = 8;

  private static EngineLab lab;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 256);
  }

  @AfterAll
  static void stop() {
    lab.close();
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(
        lab.gpus(), "--mib", Integer.toString(MIB), "--interval-ms", "100", "--own-address");
  }

  /** As a network plugin does. The kernel of a small machine may lack dummy interfaces. */
  private static void network(GpuContainer container, String device, int host) {
    for (String command :
        List.of(
            "ip link set lo up",
            "ip link add %s type veth peer name peer0".formatted(device),
            "ip addr add 10.9.0.%d/24 dev %s".formatted(host, device),
            "ip -6 addr add fd00:9::%d/64 dev %s nodad".formatted(host, device),
            "ip link set peer0 up",
            "ip link set %s up".formatted(device))) {
      new Sh()
          .must(
              "sh",
              "-c",
              "exec nsenter --net=/proc/%d/ns/net %s".formatted(container.pid(), command));
    }
  }

  @Test
  void listenersDatagramsAndConnectionsOfThePodWithItselfHaveTheAddressOfTheNewPod()
      throws Exception {
    CheckpointOutcome.Published published;
    List<String> before;
    try (GpuContainer source = GpuContainer.start(spec())) {
      network(source, "eth0", 5);
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source).requiringRestorable());
      source.awaitSteps(5);
      before = source.lines();
    }
    assertThat(published.artifact().manifest().notPortable()).isNull();
    assertThat(published.artifact().manifest().addresses())
        .contains(
            new InterfaceAddress("eth0", "10.9.0.5"), new InterfaceAddress("eth0", "fd00:9::5"));
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      network(target, "eth0", 7);

      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);

      target.awaitSteps(5);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }

  @Test
  void whereThePodHasNoAddressTheRestoreFailsAndTheArtifactStays() throws Exception {
    CheckpointOutcome.Published published;
    try (GpuContainer source = GpuContainer.start(spec())) {
      network(source, "eth0", 5);
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source));
    }
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class, failed -> assertThat(failed.message()).contains("inet"));
    }
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      network(target, "ens3", 9);

      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);

      target.awaitSteps(3);
    }
    lab.assertNothingLeft();
  }
}
