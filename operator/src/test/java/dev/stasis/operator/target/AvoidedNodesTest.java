package dev.stasis.operator.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Target;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTerm;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AvoidedNodesTest {

  private final Pod target =
      new PodBuilder()
          .withNewSpec()
          .withNewAffinity()
          .withNewNodeAffinity()
          .addNewPreferredDuringSchedulingIgnoredDuringExecution()
          .withWeight(1)
          .withNewPreference()
          .addNewMatchExpression()
          .withKey("disk")
          .withOperator("In")
          .withValues("ssd")
          .endMatchExpression()
          .endPreference()
          .endPreferredDuringSchedulingIgnoredDuringExecution()
          .endNodeAffinity()
          .endAffinity()
          .endSpec()
          .build();

  @Test
  void theNodeOnWhichItFailedIsTheLastChoice() {
    List<PreferredSchedulingTerm> terms =
        preferred(AvoidedNodes.in(target, avoiding(List.of("gpu-2", "gpu-3"))));

    assertThat(terms).hasSize(2);
    assertThat(terms.get(0)).isEqualTo(preferred(target).get(0));
    assertThat(terms.get(1).getWeight()).isEqualTo(100);
    assertThat(terms.get(1).getPreference().getMatchFields())
        .singleElement()
        .satisfies(
            field -> {
              assertThat(field.getKey()).isEqualTo("metadata.name");
              assertThat(field.getOperator()).isEqualTo("NotIn");
              assertThat(field.getValues()).containsExactly("gpu-2", "gpu-3");
            });
  }

  @Test
  void aFirstTryTakesAnyNode() {
    assertThat(AvoidedNodes.in(target, null)).isSameAs(target);
    assertThat(AvoidedNodes.in(target, avoiding(null))).isSameAs(target);
    assertThat(AvoidedNodes.in(target, avoiding(List.of()))).isSameAs(target);
  }

  private static Target avoiding(@Nullable List<String> nodes) {
    return new Target(null, null, null, nodes, null, null);
  }

  private static List<PreferredSchedulingTerm> preferred(Pod pod) {
    return pod.getSpec()
        .getAffinity()
        .getNodeAffinity()
        .getPreferredDuringSchedulingIgnoredDuringExecution();
  }
}
