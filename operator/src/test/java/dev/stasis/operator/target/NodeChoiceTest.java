package dev.stasis.operator.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.compat.Placement;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NodeChoiceTest {

  @Test
  void avoidedNodesOfAnEarlierRestoreAreDroppedAndTheUsersAffinityIsKept() {
    Affinity before =
        new AffinityBuilder()
            .withNewNodeAffinity()
            .addNewPreferredDuringSchedulingIgnoredDuringExecution()
            .withWeight(100)
            .withNewPreference()
            .addNewMatchField()
            .withKey("metadata.name")
            .withOperator("NotIn")
            .withValues("gpu-2")
            .endMatchField()
            .endPreference()
            .endPreferredDuringSchedulingIgnoredDuringExecution()
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
            .build();

    Affinity chosen =
        new NodeChoice(new Placement(new TreeMap<>()), null, Set.of("gpu-3")).within(before);

    assertThat(chosen.getNodeAffinity().getPreferredDuringSchedulingIgnoredDuringExecution())
        .singleElement()
        .isEqualTo(
            before.getNodeAffinity().getPreferredDuringSchedulingIgnoredDuringExecution().get(1));
  }
}
