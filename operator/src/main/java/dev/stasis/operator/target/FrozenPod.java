package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.compat.Placement;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The facts about the frozen pod.
 *
 * @param checkpoint name of its GpuCheckpoint
 * @param saved time of the saved state; null before a migration, whose source is frozen later and
 *     never runs after it
 * @param started when the workload started; null if that is unknown
 * @param pod its metadata and spec at the freeze
 * @param container name of the frozen container
 * @param argv its command line; needed only if the pod has no command
 * @param placement where it can be restored
 * @param others the policy for the pod's other containers
 */
public record FrozenPod(
    String checkpoint,
    @Nullable Instant saved,
    @Nullable Instant started,
    Pod pod,
    String container,
    List<String> argv,
    Image image,
    String node,
    Placement placement,
    SidecarPolicy others) {
  public FrozenPod {
    argv = List.copyOf(argv);
  }

  /** The pod as its user wrote it. */
  CommandLine commandLine() {
    return CommandLine.of(pod.getSpec(), container);
  }
}
