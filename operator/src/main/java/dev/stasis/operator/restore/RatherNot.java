package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTerm;
import io.fabric8.kubernetes.api.model.PreferredSchedulingTermBuilder;
import java.util.Map;

/**
 * A preference against the node on which a restore failed before. Its problem may persist, so every
 * other node is better; if there is no other, another attempt there may succeed.
 */
final class RatherNot {

  /** The maximum weight of a preference. */
  private static final int MOST = 100;

  private RatherNot() {}

  /** Returns the target with the preference, even if it waits behind a gate. */
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
