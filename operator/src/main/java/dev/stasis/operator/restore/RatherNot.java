package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTerm;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTermBuilder;
import java.util.Map;

/**
 * The node on which it failed before: whatever was wrong there may be wrong still, so every other
 * one is better; but where there is no other, another try may do.
 */
final class RatherNot {

  /** As much as the scheduler lets a preference count. */
  private static final int MOST = 100;

  private RatherNot() {}

  /** The target, with what it would rather not have. Also of one that waits behind a gate. */
  static Pod on(Pod target, GpuRestore restore) {
    Map<String, String> annotations = restore.getMetadata().getAnnotations();
    String node = annotations == null ? null : annotations.get(Api.RATHER_NOT_ON_ANNOTATION);
    if (node == null) {
      return target;
    }
    PreferredSchedulingTerm elsewhere =
        new PreferredSchedulingTermBuilder()
            .withWeight(MOST)
            .withNewPreference()
            .addNewMatchField()
            .withKey("metadata.name")
            .withOperator("NotIn")
            .withValues(node)
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
