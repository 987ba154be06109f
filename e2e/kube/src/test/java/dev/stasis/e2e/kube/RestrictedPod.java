package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.PodBuilder;

/** A pod that Pod Security's level restricted lets in. */
final class RestrictedPod {

  private static final long USER = 1000;

  private RestrictedPod() {}

  static PodBuilder asUser1000(PodBuilder pod) {
    return pod.editSpec()
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .withRunAsGroup(USER)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .editFirstContainer()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .endContainer()
        .endSpec();
  }
}
