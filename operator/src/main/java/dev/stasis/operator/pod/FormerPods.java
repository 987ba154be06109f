package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pods in which the workload of a restored pod ran before. Their checkpoints are checkpoints of
 * this workload, also when the objects that moved it are deleted.
 *
 * @param uids the last one first
 */
public record FormerPods(List<String> uids) {

  /** More moves between two checkpoints of a workload are not expected; 600 characters. */
  private static final int MOST = 16;

  public FormerPods {
    uids = List.copyOf(uids);
  }

  /** Reads the value of the annotation; null for a pod without it. */
  public static FormerPods of(@Nullable String annotation) {
    return new FormerPods(
        annotation == null || annotation.isBlank()
            ? List.of()
            : List.of(annotation.split(",", -1)));
  }

  /** Returns the former pods of this pod. */
  public static FormerPods before(ObjectMeta pod) {
    Map<String, String> annotations = Objects.requireNonNullElse(pod.getAnnotations(), Map.of());
    return of(annotations.get(Api.FORMER_PODS_ANNOTATION));
  }

  /** Returns the former pods of a pod into which the workload of this pod is restored. */
  public static FormerPods after(ObjectMeta pod) {
    return new FormerPods(
        Stream.concat(Stream.ofNullable(pod.getUid()), before(pod).uids().stream())
            .distinct()
            .limit(MOST)
            .toList());
  }

  /** Returns the value of the annotation. */
  public String text() {
    return String.join(",", uids);
  }
}
