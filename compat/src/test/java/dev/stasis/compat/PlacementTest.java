package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static NodeFacts eightH200() {
    return new NodeFacts(
        new GpuSet(
            Examples.DRIVER,
            Collections.nCopies(8, Examples.H200),
            Links.alike(8, Link.nvlink(18))),
        Examples.workload());
  }

  @Test
  void aNodeHasOneLabelForEachNumberOfGpusAndOneForEachHardProperty() {
    Map<String, String> labels = eightH200().labels();

    assertThat(labels)
        .containsEntry("topology.stasis.dev/gpu-model", "NVIDIA-H200")
        .containsEntry("topology.stasis.dev/gpu-memory-mib", "143771")
        .containsEntry("topology.stasis.dev/gpu-driver", "580.159.04")
        .containsEntry("topology.stasis.dev/gpu-compute-capability", "9.0")
        .containsEntry("topology.stasis.dev/gpu-mig", "Disabled")
        .containsEntry("topology.stasis.dev/cpu-architecture", "amd64")
        .containsEntry("topology.stasis.dev/criu-version", "4.2.1")
        .containsEntry("topology.stasis.dev/kernel-cgroup-version", "2")
        .containsEntry("topology.stasis.dev/kernel-io-uring", "yes")
        .containsEntry("topology.stasis.dev/kernel-ipv6", "yes")
        .containsEntry("topology.stasis.dev/kernel-max-map-count", "262144")
        .containsEntry("topology.stasis.dev/kernel-inotify-instances", "8192")
        .containsEntry("topology.stasis.dev/kernel-inotify-watches", "524288")
        .containsEntry("topology.stasis.dev/kernel-memfd-exec", "yes")
        .containsEntry("topology.stasis.dev/kernel-overcommit", "yes")
        .containsEntry("topology.stasis.dev/kernel-pid-max", "4194304")
        .containsEntry("topology.stasis.dev/kernel-time-namespaces", "yes")
        .containsEntry("topology.stasis.dev/kernel-throttled-cpus", "96")
        .containsEntry("topology.stasis.dev/kubelet-pod-pids-limit", "4096")
        .containsKeys(
            "topology.stasis.dev/kernel-hidden-folders", "topology.stasis.dev/runtime-mounts")
        .containsKeys("topology.stasis.dev/cpu-features", "topology.stasis.dev/gpus-8")
        .hasSize(8 + 22);
    assertThat(labels.get("topology.stasis.dev/gpus-2"))
        .isEqualTo(Examples.workload().only(Scope.GPUS).hash());
    assertThat(labels.values())
        .allMatch(value -> value.matches("[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"));
  }

  @Test
  void aValueOfAnyLengthAndAlphabetBecomesALabel() {
    assertThat(NodeFacts.labelValue(Property.GPU_MODEL, "(X) " + "y".repeat(70) + " Ö"))
        .matches("[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?");
  }

  @Test
  void theAffinityAcceptsExactlyTheNodesThatTheRulesAccept() {
    Random random = new Random(17);
    int accepted = 0;
    for (int i = 0; i < 300; i++) {
      List<NodeFacts> nodes = new ArrayList<>();
      for (int n = 0; n < 6; n++) {
        nodes.add(new NodeFacts(Examples.randomGpus(random), Examples.randomHost(random)));
      }
      NodeFacts source =
          random.nextBoolean()
              ? nodes.get(0)
              : new NodeFacts(Examples.randomGpus(random), Examples.randomHost(random));
      GpuSet held = Examples.choice(source.gpus(), List.of(0));
      if (random.nextBoolean()) {
        held = source.gpus();
      }
      Fingerprint wanted = source.host().and(held.fingerprint());
      Placement placement = Placement.of(wanted, nodes);
      for (NodeFacts node : nodes) {
        boolean fits =
            node.offer(held.gpus().size())
                .map(offer -> Compatibility.check(wanted, offer).fits())
                .orElse(false);
        assertThat(placement.accepts(node.labels())).as("%s on %s", wanted, node).isEqualTo(fits);
        accepted += fits ? 1 : 0;
      }
    }
    assertThat(accepted).as("nodes that fitted, of 1800").isGreaterThan(100);
  }

  @Test
  void aNodeThatIsStillToComeIsAcceptedByTheWorkloadsOwnValues() {
    assertThat(Placement.of(Examples.workload(), List.of()).accepts(eightH200().labels())).isTrue();
  }

  @Test
  void aNewerCriuAndStrongerLinksAreAcceptedByName() {
    Fingerprint wanted =
        Examples.workload()
            .with(Property.CRIU_VERSION, "4.1")
            .with(Property.GPU_INTERCONNECT, "SYS");

    Placement placement = Placement.of(wanted, List.of(eightH200()));

    assertThat(placement.accepted().get("topology.stasis.dev/criu-version"))
        .containsExactly("4.1", "4.2.1");
    assertThat(placement.accepted().get("topology.stasis.dev/gpus-2")).hasSize(2);
    assertThat(placement.accepts(eightH200().labels())).isTrue();
  }

  @Test
  void aFingerprintWithoutANumberOfGpusHasNoPlace() {
    assertThatThrownBy(() -> Placement.of(Fingerprint.empty(), List.of()))
        .hasMessage("gpu.count: expected a number, got none");
  }
}
