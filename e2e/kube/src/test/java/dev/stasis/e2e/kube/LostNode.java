package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/** A node of this machine whose workloads die with it. */
record LostNode(Scenario scenario, LocalInstallation local, String name) {

  /**
   * Takes it away for good, as a cloud does with a machine that is gone: no kubelet, no agent, no
   * Node, and none of the processes of the scenario's pods.
   *
   * @return what it was
   */
  Node vanish() {
    Node was = scenario.admin().nodes().withName(name).require();
    local.cutOff(name);
    endPods();
    scenario.kubectl("delete", "node", name);
    return was;
  }

  /** As a machine that was repaired: the same name, another object, another token. */
  void comesBackAs(Node was) {
    Node anew =
        new NodeBuilder(was)
            .withNewMetadata()
            .withName(name)
            .withLabels(was.getMetadata().getLabels())
            .endMetadata()
            .editSpec()
            .withTaints()
            .endSpec()
            .withStatus(null)
            .build();
    scenario.admin().nodes().resource(anew).create();
    local.identify(scenario.admin(), name);
    local.heal(name);
    scenario.until("node " + name + " has its GPUs again", () -> gpus() == LocalInstallation.GPUS);
  }

  /** Its processes are gone; its kubelet and its agent come up under another boot. */
  void reboots() {
    local.cutOff(name);
    endPods();
    try {
      Path boot = Files.createTempFile("stasis-e2e-boot", "");
      boot.toFile().deleteOnExit();
      Files.writeString(boot, UUID.randomUUID() + "\n");
      local.restartAgent(name, Map.of(Commands.BOOT_ID, boot.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    local.heal(name);
  }

  /** The boot is this machine's again. */
  void forgetsTheReboot() {
    local.restartAgent(name, Map.of());
  }

  private int gpus() {
    return scenario
        .admin()
        .nodes()
        .withName(name)
        .require()
        .getStatus()
        .getAllocatable()
        .getOrDefault("nvidia.com/gpu", new Quantity("0"))
        .getNumericalAmount()
        .intValue();
  }

  /** Their kubelet, which would say so, is silent. */
  private void endPods() {
    scenario.pods().stream()
        .filter(pod -> name.equals(pod.getSpec().getNodeName()))
        .forEach(pod -> new ContainerProcesses(pod.getMetadata().getUid()).kill());
  }
}
