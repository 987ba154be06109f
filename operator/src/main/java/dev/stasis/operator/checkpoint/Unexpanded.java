package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/**
 * Keeps Secrets out of {@code status.argv}. Agents and operators of before wrote it as the runtime
 * was told, with the values that the kubelet had put in; users who may not read a Secret may read a
 * status.
 */
final class Unexpanded {

  private final Template template;

  Unexpanded(Template template) {
    this.template = template;
  }

  /** Writes the pod's own command and args in place of it; nothing where no pod is known. */
  void write(GpuCheckpointStatus status) {
    List<String> argv = status.getArgv();
    if (argv != null) {
      status.setArgv(
          template
              .read(status.getPodTemplate())
              .map(pod -> CommandLine.of(pod.getSpec(), container(status, pod)).unexpanded(argv))
              .orElse(null));
    }
  }

  private static String container(GpuCheckpointStatus status, Pod pod) {
    return Optional.ofNullable(status.getPod())
        .map(ObservedPod::container)
        .orElseGet(() -> pod.getSpec().getContainers().get(0).getName());
  }
}
