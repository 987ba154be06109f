package dev.stasis.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeMatchTest {

  private final Node node =
      new NodeBuilder()
          .withNewMetadata()
          .withName("here")
          .addToLabels("driver", "580")
          .endMetadata()
          .withNewStatus()
          .withAllocatable(
              Map.of("memory", new Quantity("4Gi"), "nvidia.com/gpu", new Quantity("1")))
          .endStatus()
          .build();

  private static PodBuilder pod(String gpus, String memory) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("p")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToRequests("nvidia.com/gpu", new Quantity(gpus))
        .addToRequests("memory", new Quantity(memory))
        .endResources()
        .endContainer()
        .endSpec();
  }

  private static Pod bound(String operator, String value) {
    return pod("1", "1Gi")
        .editSpec()
        .withNewAffinity()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .addNewNodeSelectorTerm()
        .addNewMatchExpression()
        .withKey("driver")
        .withOperator(operator)
        .withValues(value)
        .endMatchExpression()
        .endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .endAffinity()
        .endSpec()
        .build();
  }

  @Test
  void aPodThatFitsIsTaken() {
    assertThat(new NodeMatch(node, List.of()).against(pod("1", "4Gi").build())).isEmpty();
    assertThat(new NodeMatch(node, List.of()).against(bound("In", "580"))).isEmpty();
  }

  @Test
  void anAllocatedGpuIsNotAllocatedAgain() {
    assertThat(
            new NodeMatch(node, List.of(pod("1", "1Gi").build())).against(pod("1", "4Gi").build()))
        .containsExactlyInAnyOrder("Insufficient nvidia.com/gpu", "Insufficient memory");
  }

  @Test
  void affinityAndSelectorHold() {
    assertThat(new NodeMatch(node, List.of()).against(bound("In", "570")))
        .containsExactly("node affinity of the pod");
    assertThat(new NodeMatch(node, List.of()).against(bound("NotIn", "580"))).hasSize(1);
    Pod selected = pod("1", "1Gi").editSpec().addToNodeSelector("driver", "570").endSpec().build();
    assertThat(new NodeMatch(node, List.of()).against(selected))
        .containsExactly("node selector driver=570");
  }
}
