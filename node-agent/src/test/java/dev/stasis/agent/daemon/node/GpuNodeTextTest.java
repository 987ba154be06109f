package dev.stasis.agent.daemon.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeTopology;
import dev.stasis.api.v1beta1.node.SelfTest;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeTextTest {

  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  private static final AgentIdentity AGENT =
      new AgentIdentity("1.0", "agent-1", NOW, NOW, null, null);
  private static final WorkingCriu CRIU =
      new WorkingCriu(Optional.of(Path.of("/criu")), Optional.of("4.2.1"), "");
  private static final NodeLook.RuntimeAnswer CONTAINERD =
      new NodeLook.RuntimeAnswer(Optional.of("containerd 2.3.4"), "");

  @Test
  void aNodeWithEverythingIsReadyAndOffersEachNumberOfGpus() {
    GpuNodeStatus status = write(look(two(), CRIU, CONTAINERD), null);

    assertThat(ready(status).status()).isEqualTo(ConditionValue.TRUE);
    assertThat(status.getReason()).isEqualTo("Ready");
    assertThat(status.getMessage()).isEqualTo("2 GPUs, driver 580.1, criu 4.2.1");
    assertThat(status.getGpuModel()).isEqualTo("NVIDIA H200");
    assertThat(status.getGpuCount()).isEqualTo(2);
    assertThat(status.getTopologies()).extracting(NodeTopology::gpus).containsExactly(1, 2);
    assertThat(Objects.requireNonNull(status.getTopologies()).get(1).fingerprint())
        .contains("gpu.interconnect=NV18\n");
    assertThat(status.getCapabilities())
        .contains(
            Capability.CHECKPOINT,
            Capability.RESTORE,
            Capability.STREAM,
            Capability.UUID_MAP,
            Capability.DIRECT);
    assertThat(status.getLinks()).extracting(link -> link.link()).containsExactly("NV18");
  }

  @Test
  void eachMissingCapabilityHasAReason() {
    GpuNodeStatus status =
        write(
            look(
                NodeGpus.none(new DriverAvailability.NoDevice("none")),
                new WorkingCriu(
                    Optional.empty(), Optional.empty(), "criu: expected a program, got none"),
                new NodeLook.RuntimeAnswer(Optional.empty(), "Version at /x: found UNAVAILABLE")),
            null);

    assertThat(ready(status).status()).isEqualTo(ConditionValue.FALSE);
    assertThat(status.getReason()).isEqualTo("NoDriver");
    assertThat(status.getMessage())
        .isEqualTo(
            "no GPU: none; Version at /x: found UNAVAILABLE; criu: expected a program, got none");
    assertThat(status.getMissing())
        .extracting(Fault::reason)
        .contains("NoDriver", "NoCriu", "NoContainerRuntime");
    assertThat(status.getCapabilities()).containsExactly(Capability.RESIZE_BACK);
  }

  @Test
  void withoutCriuAWorkloadCanStillBeSuspended() {
    GpuNodeStatus status =
        write(
            look(
                two(),
                new WorkingCriu(Optional.empty(), Optional.empty(), "criu: none"),
                CONTAINERD),
            null);

    assertThat(status.getCapabilities())
        .contains(Capability.SUSPEND)
        .doesNotContain(Capability.CHECKPOINT, Capability.RESTORE, Capability.STREAM);
    assertThat(status.getReason()).isEqualTo("NoCriu");
  }

  @Test
  void aConditionKeepsTheTimeOfItsTransition() {
    GpuNodeStatus first = write(look(two(), CRIU, CONTAINERD), null);
    GpuNodeStatus second =
        new GpuNodeText().write(look(two(), CRIU, CONTAINERD), AGENT, first, NOW.plusSeconds(60));

    assertThat(ready(second).lastTransitionTime()).isEqualTo(NOW);
  }

  @Test
  void aFailedSelfTestAndAFencedGpuAreSaid() {
    SelfTest test =
        new SelfTest(
            null, false, "mover: it ended with code 7", null, null, null, null, null, null);
    NodeLook look = look(two(), CRIU, CONTAINERD);
    String uuid = two().gpus().get(1).uuid().text();
    GpuNodeStatus status =
        write(
            new NodeLook(
                look.gpus(),
                look.host(),
                look.root(),
                look.criu(),
                look.containerRuntime(),
                look.kubelet(),
                look.cgroupDrivers(),
                look.programs(),
                look.keeper(),
                look.kubernetes(),
                Optional.of(test),
                List.of(),
                List.of(),
                Map.of(uuid, "a thaw did not end")),
            null);

    assertThat(status.getReason()).isEqualTo("SelfTestFailed");
    assertThat(status.getMessage()).isEqualTo("self-test: mover: it ended with code 7");
    assertThat(status.getGpus())
        .extracting(gpu -> gpu.quarantined(), gpu -> gpu.quarantineReason())
        .containsExactly(tuple(null, null), tuple(true, "a thaw did not end"));
  }

  @Test
  void withoutTheKeeperOnlyTheDirectDataPathIsMissing() {
    NodeLook look = look(two(), CRIU, CONTAINERD);
    assertThat(write(look, null).getCapabilities()).contains(Capability.DIRECT);
    GpuNodeStatus status =
        write(
            new NodeLook(
                look.gpus(),
                look.host(),
                look.root(),
                look.criu(),
                look.containerRuntime(),
                look.kubelet(),
                look.cgroupDrivers(),
                look.programs(),
                Optional.of("stasis-keeper: expected a program at /x, got none"),
                look.kubernetes(),
                Optional.empty(),
                List.of(),
                List.of(),
                Map.of()),
            null);
    assertThat(status.getCapabilities())
        .contains(Capability.CHECKPOINT)
        .doesNotContain(Capability.DIRECT);
    assertThat(status.getMissing()).extracting(Fault::reason).containsExactly("NoKeeper");
    assertThat(ready(status).status()).isEqualTo(ConditionValue.TRUE);
  }

  private static GpuNodeStatus write(NodeLook look, @Nullable GpuNodeStatus before) {
    return new GpuNodeText().write(look, AGENT, before, NOW);
  }

  private static Condition ready(GpuNodeStatus status) {
    return Objects.requireNonNull(status.getConditions()).get(0);
  }

  private static NodeLook look(NodeGpus gpus, WorkingCriu criu, NodeLook.RuntimeAnswer runtime) {
    NodeHost host = new NodeHost();
    host.setKernel("6.1.0");
    host.setTimeNamespaces(true);
    return new NodeLook(
        gpus,
        host,
        true,
        criu,
        runtime,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        36,
        Optional.empty(),
        List.of(),
        List.of(),
        Map.of());
  }

  private static NodeGpus two() {
    return new NodeGpus(
        new DriverAvailability.Present("libcuda.so.1", 13000),
        "580.1",
        13000,
        List.of(gpu(0), gpu(1)),
        List.of(new GpuLink(0, 1, GpuLink.Relation.NVLINK, 18)));
  }

  private static Gpu gpu(int index) {
    return new Gpu(
        index,
        new GpuUuid("GPU-00000000-0000-0000-0000-00000000000" + index),
        "NVIDIA H200",
        141L << 30,
        141L << 30,
        "00000000:1" + index + ":00.0",
        "9.0",
        false,
        true);
  }
}
