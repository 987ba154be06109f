package dev.stasis.operator.target;

import dev.stasis.api.v1alpha1.common.CommandLine;
import dev.stasis.api.v1alpha1.common.OtherContainers;
import dev.stasis.compat.Placement;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/**
 * What is known of the pod that was frozen.
 *
 * @param checkpoint name of its GpuCheckpoint
 * @param pod as it was: metadata and spec
 * @param container name of the container that was frozen
 * @param argv its command line; needed only where the pod has no command
 * @param image its image
 * @param node the node on which it was
 * @param placement where it may come back
 * @param others what to do about the pod's other containers
 */
public record FrozenPod(
    String checkpoint,
    Pod pod,
    String container,
    List<String> argv,
    Image image,
    String node,
    Placement placement,
    OtherContainers others) {
  public FrozenPod {
    argv = List.copyOf(argv);
  }

  /** As its user wrote it. */
  CommandLine commandLine() {
    return CommandLine.of(pod.getSpec(), container);
  }
}
