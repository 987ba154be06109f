package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Pods and nodes to choose among. */
final class PreemptionSamples {

  private PreemptionSamples() {}

  static VictimCandidate running(
      String name, int gpus, int priority, long minutes, long freezeSeconds) {
    Instant since = VictimChooserTest.NOW.minus(Duration.ofMinutes(minutes));
    return new VictimCandidate(
        pod(name, gpus, priority),
        since,
        since,
        Duration.ofSeconds(freezeSeconds),
        Optional.empty(),
        Optional.empty(),
        0);
  }

  static Pod pod(String name, int gpus, int priority) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withPriority(priority)
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToRequests("nvidia.com/gpu", new Quantity(Integer.toString(gpus)))
        .addToRequests("cpu", new Quantity("500m"))
        .addToRequests("memory", new Quantity("1Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  static Pod with(Pod pod, String resource, String amount) {
    return new PodBuilder(pod)
        .editSpec()
        .editFirstContainer()
        .editResources()
        .addToRequests(resource, new Quantity(amount))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  static Pod port(Pod pod, int port) {
    return new PodBuilder(pod)
        .editSpec()
        .editFirstContainer()
        .addNewPort()
        .withContainerPort(port)
        .withHostPort(port)
        .endPort()
        .endContainer()
        .endSpec()
        .build();
  }

  static Pod affine(String field, String operator, String value) {
    return new PodBuilder(pod("p", 1, 1000))
        .editSpec()
        .withNewAffinity()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .addNewNodeSelectorTerm()
        .withMatchFields(new NodeSelectorRequirement(field, operator, List.of(value)))
        .endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .endAffinity()
        .endSpec()
        .build();
  }

  static TopologySpreadConstraint spreadConstraint() {
    TopologySpreadConstraint constraint = new TopologySpreadConstraint();
    constraint.setTopologyKey("kubernetes.io/hostname");
    constraint.setMaxSkew(1);
    constraint.setWhenUnsatisfiable("DoNotSchedule");
    return constraint;
  }

  static Node node(String name, int gpus) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .addToAllocatable("nvidia.com/gpu", new Quantity(Integer.toString(gpus)))
        .addToAllocatable("cpu", new Quantity("8"))
        .addToAllocatable("memory", new Quantity("64Gi"))
        .addToAllocatable("pods", new Quantity("110"))
        .endStatus()
        .build();
  }

  static NodeSnapshot place(String name, int gpus, VictimCandidate... pods) {
    return new NodeSnapshot(node(name, gpus), List.of(pods));
  }
}
