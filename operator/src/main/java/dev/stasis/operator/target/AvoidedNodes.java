package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Target;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTerm;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTermBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A preference against nodes, such as the one on which a restore failed before. Its problem may
 * persist, so every other node is better; if there is no other, another attempt there may succeed.
 */
public final class AvoidedNodes {

  /** The maximum weight of a preference. */
  private static final int MOST = 100;

  private AvoidedNodes() {}

  /** Returns the target pod with the preference, even if it waits behind a gate. */
  public static Pod in(Pod target, @Nullable Target wish) {
    if (wish == null || wish.avoided().isEmpty()) {
      return target;
    }
    PreferredSchedulingTerm elsewhere =
        new PreferredSchedulingTermBuilder()
            .withWeight(MOST)
            .withNewPreference()
            .addNewMatchField()
            .withKey("metadata.name")
            .withOperator("NotIn")
            .withValues(wish.avoided())
            .endMatchField()
            .endPreference()
            .build();
    return new PodBuilder(target)
        .editSpec()
        .editOrNewAffinity()
        .editOrNewNodeAffinity()
        .addToPreferredDuringSchedulingIgnoredDuringExecution(elsewhere)
        .endNodeAffinity()
        .endAffinity()
        .endSpec()
        .build();
  }
}
