package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pods in which the workload of a restored pod ran before. Their checkpoints are checkpoints of
 * this workload, also when the objects that moved it are deleted: up to the restored state, because
 * the source of a copy keeps running.
 *
 * @param pods the last one first
 */
public record FormerPods(List<FormerPod> pods) {

  /** More moves between two checkpoints of a workload are not expected; 950 characters. */
  private static final int MOST = 16;

  private static final String SEPARATOR = "@";

  /**
   * A pod in which the workload ran.
   *
   * @param until time of its last state that the workload has; null if it has all of them, because
   *     a migration ended the pod
   */
  public record FormerPod(String uid, @Nullable Instant until) {

    /** Returns the entry; empty if a user has changed it to something else. */
    private static Stream<FormerPod> parse(String entry) {
      String[] parts = entry.split(SEPARATOR, 2);
      try {
        return Stream.of(
            new FormerPod(parts[0], parts.length == 1 ? null : Instant.parse(parts[1])));
      } catch (DateTimeParseException e) {
        return Stream.empty();
      }
    }

    private String text() {
      return until == null ? uid : uid + SEPARATOR + until;
    }
  }

  public FormerPods {
    pods = List.copyOf(pods);
  }

  /** Reads the value of the annotation; null for a pod without it. */
  public static FormerPods of(@Nullable String annotation) {
    return new FormerPods(
        annotation == null || annotation.isBlank()
            ? List.of()
            : Arrays.stream(annotation.split(",", -1)).flatMap(FormerPod::parse).toList());
  }

  /** Returns the former pods of this pod. */
  public static FormerPods before(ObjectMeta pod) {
    Map<String, String> annotations = Objects.requireNonNullElse(pod.getAnnotations(), Map.of());
    return of(annotations.get(Api.FORMER_PODS_ANNOTATION));
  }

  /**
   * Returns the former pods of a pod into which the workload of this pod is restored.
   *
   * @param until time of the restored state; null if the pod is moved, and does not run after it
   */
  public static FormerPods after(ObjectMeta pod, @Nullable Instant until) {
    Set<String> seen = new HashSet<>();
    return new FormerPods(
        Stream.concat(
                Stream.ofNullable(pod.getUid()).map(uid -> new FormerPod(uid, until)),
                before(pod).pods().stream()
                    .map(it -> it.until() == null ? new FormerPod(it.uid(), until) : it))
            .filter(former -> seen.add(former.uid()))
            .limit(MOST)
            .toList());
  }

  public Set<String> uids() {
    return pods.stream().map(FormerPod::uid).collect(Collectors.toSet());
  }

  /** Returns the value of the annotation. */
  public String text() {
    return pods.stream().map(FormerPod::text).collect(Collectors.joining(","));
  }
}
