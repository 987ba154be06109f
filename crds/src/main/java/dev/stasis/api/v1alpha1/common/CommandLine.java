package dev.stasis.api.v1alpha1.common;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The command line of a container as its pod has it, with every {@code $(NAME)} in it. The kubelet
 * replaces those with values of the environment, which may come from a Secret. So what a runtime
 * was told to start belongs in no status and no pod.
 *
 * @param command replaces the entrypoint of the image, and without {@code args} its cmd too
 * @param args replace the cmd of the image
 */
public record CommandLine(List<String> command, List<String> args) {
  public CommandLine {
    command = List.copyOf(command);
    args = List.copyOf(args);
  }

  /** Returns that of a container; an empty one where the pod has no such container. */
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

  /** Returns whether the image supplies a part of it, which the pod alone does not tell. */
  public boolean needsImage() {
    return command.isEmpty();
  }

  /**
   * Returns the part that the image supplies: nothing where the pod has a command, else the
   * entrypoint, and without {@code args} the cmd too. The kubelet replaces nothing in these.
   *
   * @param argv the whole command line, from the runtime or as {@link #unexpanded} returned it
   */
  public List<String> ofImage(List<String> argv) {
    return needsImage() ? argv.subList(0, Math.max(0, argv.size() - args.size())) : List.of();
  }

  /** Returns the whole command line without any value that the kubelet put in. */
  public List<String> unexpanded(List<String> argv) {
    return Stream.of(ofImage(argv), command, args).flatMap(List::stream).toList();
  }
}
