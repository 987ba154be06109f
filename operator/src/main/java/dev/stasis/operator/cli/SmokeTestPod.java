package dev.stasis.operator.cli;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;

/**
 * The pod of a smoke test: a program that counts on one GPU and reports at every step whether the
 * data read from the device is right. It passes Pod Security level {@code restricted}.
 */
final class SmokeTestPod {

  static final String CONTAINER = "main";

  /** The path in the images. */
  private static final long USER = 65532L;

  private SmokeTestPod() {}

  static Pod of(SmokeTestSettings settings) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(settings.namespace())
        .withName(settings.name())
        .addToLabels("app.kubernetes.io/name", "stasis")
        .addToLabels("app.kubernetes.io/component", "test")
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withServiceAccountName(settings.serviceAccount())
        .withAutomountServiceAccountToken(false)
        .withRuntimeClassName(settings.runtimeClass().isEmpty() ? null : settings.runtimeClass())
        // It ends on SIGTERM.
        .withTerminationGracePeriodSeconds(5L)
        .addNewToleration()
        .withKey(settings.gpuResource())
        .withOperator("Exists")
        .endToleration()
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .withRunAsGroup(USER)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .addNewContainer()
        .withName(CONTAINER)
        .withImage(settings.image())
        .withImagePullPolicy(settings.pullPolicy())
        .withCommand("/usr/libexec/stasis/gpu-counter", "--mib", "16", "--interval-ms", "200")
        .addNewEnv()
        .withName("NVIDIA_DRIVER_CAPABILITIES")
        .withValue("compute,utility")
        .endEnv()
        .withNewResources()
        .addToRequests("cpu", new Quantity("50m"))
        .addToRequests("memory", new Quantity("64Mi"))
        .addToLimits(settings.gpuResource(), new Quantity("1"))
        .endResources()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .addToDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .endContainer()
        .endSpec()
        .build();
  }
}
