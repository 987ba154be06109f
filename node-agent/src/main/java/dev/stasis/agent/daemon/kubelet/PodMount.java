package dev.stasis.agent.daemon.kubelet;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import k8s.cri.v1.Mount;

/**
 * A mount requested by the kubelet.
 *
 * @param hostPath the folder or file on the host
 * @param emptyDir the name of the pod's emptyDir; empty for any other mount
 */
public record PodMount(
    Path hostPath, String containerPath, boolean readOnly, Optional<String> emptyDir) {

  /** Identifies a pod's volumes by the kubelet's folders. */
  static final class PodFolders {

    private static final String EMPTY_DIRS = "/volumes/kubernetes.io~empty-dir/";

    private final Pattern whole;
    private final Pattern part;

    PodFolders(String podUid) {
      String pod = "(.*/pods/" + Pattern.quote(podUid) + ")";
      this.whole = Pattern.compile(pod + EMPTY_DIRS + "([^/]+)");
      // A mount with a subPath: VOLUME/CONTAINER/NUMBER.
      this.part = Pattern.compile(pod + "/volume-subpaths/([^/]+)/[^/]+/[0-9]+");
    }

    PodMount mount(Mount mount) {
      return new PodMount(
          Path.of(mount.getHostPath()),
          mount.getContainerPath(),
          mount.getReadonly(),
          emptyDir(mount.getHostPath()));
    }

    private Optional<String> emptyDir(String hostPath) {
      Matcher matcher = whole.matcher(hostPath);
      if (matcher.matches()) {
        return Optional.of(matcher.group(2));
      }
      matcher = part.matcher(hostPath);
      if (matcher.matches()
          && Files.isDirectory(Path.of(matcher.group(1) + EMPTY_DIRS + matcher.group(2)))) {
        return Optional.of(matcher.group(2));
      }
      return Optional.empty();
    }
  }
}
