package dev.stasis.operator.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A budget refuses here what the eviction API refuses, and no more. */
class EvictionBudgetsTest {

  @Test
  void aReadyPodGoesOnlyIfADisruptionIsAllowed() {
    assertThat(EvictionBudgets.allows(budget("AlwaysAllow", 0, 2, 1), pod("True"))).isFalse();
    assertThat(EvictionBudgets.allows(budget("IfHealthyBudget", 1, 2, 1), pod("True"))).isTrue();
    assertThat(EvictionBudgets.allows(new PodDisruptionBudget(), pod("False"))).isFalse();
  }

  @Test
  void aPodThatIsNotReadyGoesIfThePolicySaysSo() {
    assertThat(EvictionBudgets.allows(budget("AlwaysAllow", 0, 0, 1), pod("False"))).isTrue();
    assertThat(EvictionBudgets.allows(budget(null, 0, 0, 1), pod("False"))).isFalse();
  }

  @Test
  void aPodThatIsNotReadyGoesIfTheOthersAreEnough() {
    assertThat(EvictionBudgets.allows(budget(null, 0, 1, 1), pod("False"))).isTrue();
    assertThat(EvictionBudgets.allows(budget(null, 0, 0, 0), pod("False"))).isFalse();
  }

  private static PodDisruptionBudget budget(
      @Nullable String policy, int allowed, int healthy, int desired) {
    return new PodDisruptionBudgetBuilder()
        .withNewSpec()
        .withUnhealthyPodEvictionPolicy(policy)
        .endSpec()
        .withNewStatus()
        .withDisruptionsAllowed(allowed)
        .withCurrentHealthy(healthy)
        .withDesiredHealthy(desired)
        .endStatus()
        .build();
  }

  private static Pod pod(String ready) {
    return new PodBuilder()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus(ready)
        .endCondition()
        .endStatus()
        .build();
  }
}
