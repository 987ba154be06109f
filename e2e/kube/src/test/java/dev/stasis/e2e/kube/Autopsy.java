package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What can be seen of a container that should print and does not, in one line: a scenario that
 * failed on a machine which is gone has left nothing else.
 */
final class Autopsy {

  private Autopsy() {}

  /**
   * How the kubelet sees it, what kubectl logs says at last, and what its processes do.
   *
   * @param kernel what the kernel says of itself: Linux 6.18 was seen to give no processor to
   *     anything on the machine for minutes, {@code BUG: workqueue lockup}, and then to go on
   */
  static String of(ContainerStatus status, Shell.Result log, String kernel) {
    List<String> lines = log.output().lines().toList();
    return "container state %s, before that %s, restarts %d, started %s; kubectl logs ended with %d, %d lines, the last: %s; processes: %s; the kernel: %s"
        .formatted(
            state(status.getState()),
            state(status.getLastState()),
            status.getRestartCount(),
            status.getStarted(),
            log.code(),
            lines.size(),
            lines.isEmpty() ? "none" : lines.get(lines.size() - 1),
            processes(status.getContainerID()),
            kernel.isEmpty() ? "nothing" : kernel);
  }

  private static String state(@Nullable ContainerState state) {
    if (state == null) {
      return "none";
    }
    if (state.getRunning() != null) {
      return "running since " + state.getRunning().getStartedAt();
    }
    ContainerStateTerminated ended = state.getTerminated();
    if (ended != null) {
      return "terminated at %s with %d, signal %s, %s: %s"
          .formatted(
              ended.getFinishedAt(),
              ended.getExitCode(),
              ended.getSignal(),
              ended.getReason(),
              ended.getMessage());
    }
    return state.getWaiting() == null ? "none" : "waiting: " + state.getWaiting().getReason();
  }

  /** Those of the container, where its node is on this machine. */
  private static String processes(String containerId) {
    String id = containerId == null ? "" : containerId.replaceAll("^.*//", "");
    List<String> found =
        id.isEmpty()
            ? List.of()
            : new ContainerProcesses(id).folders().stream().map(Autopsy::threads).toList();
    return found.isEmpty() ? "none seen" : String.join(" ", found);
  }

  /** {@code 123 gpu-counter[S hrtimer_nanosleep, ...]}: each thread, and where it waits. */
  private static String threads(Path process) {
    List<String> threads = new ArrayList<>();
    try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
      for (Path task : tasks.toList()) {
        String stat = read(task.resolve("stat"));
        threads.add(
            stat.replaceAll("(?s)^.*\\) (.).*$", "$1") + " " + read(task.resolve("wchan")).trim());
      }
    } catch (IOException e) {
      return process.getFileName() + " is gone";
    }
    return "%s %s%s"
        .formatted(process.getFileName(), read(process.resolve("comm")).trim(), threads);
  }

  /** Nothing, where there is nothing any more. */
  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
