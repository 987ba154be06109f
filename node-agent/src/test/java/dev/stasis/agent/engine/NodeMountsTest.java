package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.RuntimeMounts;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.process.Mount;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeMountsTest {

  private static final String POD = "/var/lib/kubelet/pods/1/volumes/kubernetes.io~empty-dir/tmp";

  /** An agent under CRI-O, which mounts the subscriptions of the node in every container. */
  private static final List<Mount> OF_AN_AGENT =
      List.of(
          root("overlay"),
          mount(2, 1, "/", "/proc"),
          mount(3, 1, "/", "/dev"),
          mount(4, 1, POD, "/tmp"),
          mount(5, 1, "/run/stasis", "/run/stasis"),
          mount(6, 1, "/var/lib/kubelet", "/var/lib/kubelet"),
          mount(7, 6, "/else", "/var/lib/kubelet/pods/2/volumes/kubernetes.io~csi/a"),
          mount(8, 1, "/containers/storage/1/userdata/hostname", "/etc/hostname"),
          mount(9, 1, "/containers/storage/1/userdata/run/secrets", "/run/secrets"));

  private static Mount root(String type) {
    return new Mount(1, 0, 0, 9, "/", "/", List.of("rw"), List.of(), type, type, List.of());
  }

  private static Mount mount(int id, int parent, String root, String at) {
    return new Mount(
        id, parent, 8, 1, root, at, List.of("rw"), List.of(), "ext4", "/dev/sda", List.of());
  }

  private static Surroundings around(Set<String> nodeMounts) {
    return new Surroundings(
        Map.of(),
        OF_AN_AGENT.subList(7, 9),
        Set.of(),
        Set.of(),
        Map.of(),
        nodeMounts,
        List.of(),
        Set.of(),
        Map.of(),
        List.of(),
        Set.of(),
        List.of(),
        Map.of(),
        null,
        false);
  }

  @Test
  void theAgentsOwnContainerShowsWhatTheRuntimeMakes() {
    assertThat(NodeMounts.of(OF_AN_AGENT)).isEqualTo(new RuntimeMounts(Set.of("/run/secrets")));
  }

  @Test
  void anAgentOutsideOfContainersShowsNothing() {
    List<Mount> processes = new ArrayList<>(OF_AN_AGENT);
    processes.set(0, root("ext4"));
    assertThat(NodeMounts.of(processes).paths()).isEmpty();
  }

  @Test
  void aWorkloadAsksForANodeWhoseRuntimeMakesItsMounts() {
    Fingerprint needs = NodeNeeds.mounts(around(Set.of("/run/secrets", "/opt/more")));

    assertThat(needs.values()).isEqualTo(Map.of(Property.RUNTIME_MOUNTS, "/run/secrets"));
    Fingerprint other = Fingerprint.empty().with(Property.RUNTIME_MOUNTS, List.of("/opt/site"));
    assertThat(Compatibility.check(needs, other).sentence())
        .isEqualTo("runtime.mounts: expected /run/secrets, not found");
    assertThat(NodeNeeds.mounts(around(Set.of())).values()).isEmpty();
  }
}
