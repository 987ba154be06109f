package dev.stasis.operator.holder;

import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a workload ended in its target, as the kubelet reports it. The target is deleted with its log
 * after a failed restore, so this is what remains.
 */
public final class ContainerExit {

  /** A holder that is restarted without a workload exits with it. */
  private static final int NOT_RESTORED = 78;

  /** The agent kills what remains of a failed restore. */
  private static final int KILLED = 137;

  /** A condition is read in one line of a terminal. */
  private static final int LENGTH = 200;

  /** Returns the sentence; empty if the kubelet has not reported it, or the agent killed it. */
  public Optional<String> read(Pod pod, String container) {
    return new PodState(pod)
        .container(container).stream()
            .flatMap(ContainerExit::ends)
            .filter(end -> !Integer.valueOf(NOT_RESTORED).equals(end.getExitCode()))
            .findFirst()
            .filter(end -> end.getExitCode() != KILLED || "OOMKilled".equals(end.getReason()))
            .map(end -> "container " + container + " exited with " + sentence(end));
  }

  private static Stream<ContainerStateTerminated> ends(ContainerStatus status) {
    return Stream.of(
            Optional.ofNullable(status.getState()), Optional.ofNullable(status.getLastState()))
        .flatMap(Optional::stream)
        .map(ContainerState::getTerminated)
        .filter(Objects::nonNull);
  }

  private static String sentence(ContainerStateTerminated end) {
    int code = end.getExitCode();
    String signal = code > 128 && code <= 192 ? " (signal " + (code - 128) + ")" : "";
    String reason = "OOMKilled".equals(end.getReason()) ? ", OOMKilled" : "";
    String said = lastLine(end.getMessage());
    return "code " + code + signal + reason + (said.isEmpty() ? "" : ": " + said);
  }

  /** Returns the last line of text that the workload chose: printable and short. */
  private static String lastLine(@Nullable String text) {
    return Objects.requireNonNullElse(text, "")
        .lines()
        .map(line -> line.replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]", " ").strip())
        .filter(line -> !line.isEmpty())
        .reduce((first, last) -> last)
        .map(line -> line.codePointCount(0, line.length()) <= LENGTH ? line : cut(line))
        .orElse("");
  }

  private static String cut(String line) {
    return line.substring(0, line.offsetByCodePoints(0, LENGTH)) + "...";
  }
}
