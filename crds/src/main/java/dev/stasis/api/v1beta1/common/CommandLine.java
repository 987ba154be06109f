package dev.stasis.api.v1beta1.common;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Command line of a container as in its pod's spec, with every {@code $(NAME)} unexpanded. The
 * kubelet replaces these with values of environment variables, which may come from a Secret, so the
 * expanded command line must not appear in a status or a pod.
 *
 * @param command replaces the entrypoint of the image, and without {@code args} its cmd too
 * @param args replace the cmd of the image
 */
public record CommandLine(List<String> command, List<String> args) {
  public CommandLine {
    command = List.copyOf(command);
    args = List.copyOf(args);
  }

  /** Returns the command line of a container; an empty one if the pod has no such container. */
  public static CommandLine of(@Nullable PodSpec pod, String container) {
    List<Container> all = new ArrayList<>();
    if (pod != null) {
      all.addAll(Objects.requireNonNullElse(pod.getContainers(), List.of()));
      all.addAll(Objects.requireNonNullElse(pod.getInitContainers(), List.of()));
    }
    return all.stream()
        .filter(one -> one.getName().equals(container))
        .findFirst()
        .map(
            one ->
                new CommandLine(
                    Objects.requireNonNullElse(one.getCommand(), List.of()),
                    Objects.requireNonNullElse(one.getArgs(), List.of())))
        .orElseGet(() -> new CommandLine(List.of(), List.of()));
  }

  /** Returns whether the image supplies a part of the command line. */
  public boolean needsImage() {
    return command.isEmpty();
  }

  /**
   * Returns the part that the image supplies: nothing if the pod has a command, otherwise the
   * entrypoint, and without {@code args} the cmd too. The kubelet expands nothing in these.
   *
   * @param argv the whole command line, from the runtime or from {@link #unexpanded}
   */
  public List<String> ofImage(List<String> argv) {
    return needsImage() ? argv.subList(0, Math.max(0, argv.size() - args.size())) : List.of();
  }

  /** Returns the whole command line without any value that the kubelet expanded. */
  public List<String> unexpanded(List<String> argv) {
    return Stream.of(ofImage(argv), command, args).flatMap(List::stream).toList();
  }
}
