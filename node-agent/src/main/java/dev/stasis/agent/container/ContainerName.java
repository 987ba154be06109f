package dev.stasis.agent.container;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.ProcessId;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How runtimes write a container's id into cgroup paths: containerd as {@code .../<id>} or {@code
 * .../cri-containerd-<id>.scope}, CRI-O as {@code crio-<id>.scope}, docker and podman in the same
 * way, runc alone as its own name.
 */
final class ContainerName {

  private static final Pattern RUNTIME_ID =
      Pattern.compile("(?:[a-z]+(?:-[a-z]+)*-)?([0-9a-f]{64})(?:\\.scope)?");
  private static final Pattern PLAIN = Pattern.compile("pid-([0-9]{1,9})-([0-9]{1,18})");
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.+-]{0,254}");

  private ContainerName() {}

  /** Returns the id given by a runtime, from the deepest cgroup that contains one. */
  static Optional<String> runtimeId(List<CgroupMembership> memberships) {
    Optional<String> found = Optional.empty();
    int deepest = -1;
    for (CgroupMembership membership : memberships) {
      String[] segments = membership.path().split("/");
      for (int i = 0; i < segments.length; i++) {
        Optional<String> id = runtimeId(segments[i]);
        if (id.isPresent() && i > deepest) {
          deepest = i;
          found = id;
        }
      }
    }
    return found;
  }

  /** Returns whether the process is in the container, or in one nested in it. */
  static boolean isIn(List<CgroupMembership> memberships, String id) {
    return memberships.stream()
        .flatMap(membership -> List.of(membership.path().split("/")).stream())
        .anyMatch(segment -> names(segment, id));
  }

  static boolean names(String segment, String id) {
    return segment.equals(id)
        || segment.endsWith("-" + id + ".scope") && !isMonitor(segment)
        || runtimeId(segment).filter(id::equals).isPresent();
  }

  static String plain(ProcessId process) {
    return "pid-" + process.pid() + "-" + process.startTime();
  }

  static Optional<ProcessId> plain(String id) {
    Matcher matcher = PLAIN.matcher(id);
    return matcher.matches()
        ? Optional.of(
            new ProcessId(Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2))))
        : Optional.empty();
  }

  static boolean isWord(String text) {
    return WORD.matcher(text).matches();
  }

  private static Optional<String> runtimeId(String segment) {
    Matcher matcher = RUNTIME_ID.matcher(segment);
    return matcher.matches() && !isMonitor(segment)
        ? Optional.of(matcher.group(1))
        : Optional.empty();
  }

  /** CRI-O and podman place a container's monitor in a sibling cgroup with the same id. */
  private static boolean isMonitor(String segment) {
    return segment.contains("conmon-");
  }
}
