package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTerm;
import java.util.List;
import org.junit.jupiter.api.Test;

class RatherNotTest {

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
    List<PreferredSchedulingTerm> terms = preferred(RatherNot.on(target, restore("gpu-2")));

    assertThat(terms).hasSize(2);
    assertThat(terms.get(0)).isEqualTo(preferred(target).get(0));
    assertThat(terms.get(1).getWeight()).isEqualTo(100);
    assertThat(terms.get(1).getPreference().getMatchFields())
        .singleElement()
        .satisfies(
            field -> {
              assertThat(field.getKey()).isEqualTo("metadata.name");
              assertThat(field.getOperator()).isEqualTo("NotIn");
              assertThat(field.getValues()).containsExactly("gpu-2");
            });
  }

  @Test
  void aFirstTryTakesAnyNode() {
    GpuRestore first = new GpuRestore();
    first.setMetadata(new ObjectMetaBuilder().withName("first").build());

    assertThat(RatherNot.on(target, first)).isSameAs(target);
  }

  private static GpuRestore restore(String ratherNotOn) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withName("second")
            .addToAnnotations(Api.RATHER_NOT_ON_ANNOTATION, ratherNotOn)
            .build());
    return restore;
  }

  private static List<PreferredSchedulingTerm> preferred(Pod pod) {
    return pod.getSpec()
        .getAffinity()
        .getNodeAffinity()
        .getPreferredDuringSchedulingIgnoredDuringExecution();
  }
}
