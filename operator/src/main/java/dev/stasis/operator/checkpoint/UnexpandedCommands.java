package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/**
 * Command lines without the values of Secrets, which the kubelet expands in them: a user who may
 * read a status may not read these. Each reconciliation needs the command line, and reading the
 * pod's template takes longer than the rest of it, so recent results are kept.
 */
final class UnexpandedCommands {

  /** Several times the number of requests that are in progress at once. */
  private static final int REMEMBERED = 4_000;

  private final Template template;
  private final RecentMap<Command, List<String>> known = new RecentMap<>(REMEMBERED);

  /**
   * A reported command line. The template of a request's pod does not change once it has one.
   *
   * @param uid of the request
   */
  private record Command(String uid, List<String> argv) {}

  UnexpandedCommands(Template template) {
    this.template = template;
  }

  /**
   * Replaces the command line in a status by the pod's own command and arguments. Without a pod it
   * is removed.
   *
   * @param uid of the request
   */
  void hideSecrets(String uid, GpuCheckpointStatus status) {
    List<String> argv = status.getArgv();
    if (argv == null) {
      return;
    }
    Command command = new Command(uid, argv);
    Optional<List<String>> hidden = known.get(command);
    if (hidden.isEmpty()) {
      hidden = template.read(status.getPodTemplate()).map(pod -> unexpanded(pod, status, argv));
      hidden.ifPresent(it -> known.put(command, it));
    }
    status.setArgv(hidden.orElse(null));
  }

  private static List<String> unexpanded(Pod pod, GpuCheckpointStatus status, List<String> argv) {
    String container =
        Optional.ofNullable(status.getPod())
            .map(ObservedPod::container)
            .orElseGet(() -> pod.getSpec().getContainers().get(0).getName());
    return CommandLine.of(pod.getSpec(), container).unexpanded(argv);
  }
}
