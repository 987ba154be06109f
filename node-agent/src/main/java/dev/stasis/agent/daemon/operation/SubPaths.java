package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodMount;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which folder of its volume a pod mounts at each path.
 *
 * @param container its container in the runtime
 * @param env the container's environment, one {@code NAME=value} each
 */
record SubPaths(Pod pod, PodContainer container, List<String> env) {

  /** $(NAME), or a doubled dollar sign, which stands for one. */
  private static final Pattern VARIABLE = Pattern.compile("\\$\\$|\\$\\(([^()]+)\\)");

  SubPaths {
    env = List.copyOf(env);
  }

  /** Returns the subPath of each mount; an empty text for a whole volume. */
  Map<String, String> byMountPoint() {
    Map<String, String> subPaths = new HashMap<>();
    for (PodMount mount : container.mounts()) {
      subPaths.put(clean(mount.containerPath()), "");
    }
    Stream.concat(
            pod.getSpec().getContainers().stream(), pod.getSpec().getInitContainers().stream())
        .filter(one -> one.getName().equals(container.name()))
        .map(Container::getVolumeMounts)
        .flatMap(List::stream)
        .forEach(mount -> subPaths.put(clean(mount.getMountPath()), subPath(mount)));
    return subPaths;
  }

  private String subPath(VolumeMount mount) {
    if (mount.getSubPathExpr() == null || mount.getSubPathExpr().isEmpty()) {
      return Objects.requireNonNullElse(mount.getSubPath(), "");
    }
    Matcher variables = VARIABLE.matcher(mount.getSubPathExpr());
    return variables.replaceAll(
        found -> Matcher.quoteReplacement(found.group(1) == null ? "$" : value(found.group(1))));
  }

  private String value(String name) {
    return env.stream()
        .filter(one -> one.startsWith(name + "="))
        .map(one -> one.substring(name.length() + 1))
        .findFirst()
        .orElse("$(" + name + ")");
  }

  private static String clean(String path) {
    return path.replaceFirst("(?<=.)/+$", "");
  }
}
