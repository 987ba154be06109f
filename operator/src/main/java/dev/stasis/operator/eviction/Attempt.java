package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * One attempt to save a pod before its eviction: a GpuCheckpoint that says since when the eviction
 * is asked for, and when it was asked for last.
 *
 * @param checkpoint as it was read
 */
record Attempt(GpuCheckpoint checkpoint) {

  /** Of the pod's name, so that number and uid find room in 63 characters. */
  private static final int HEAD = 40;

  private static final int OF_UID = 8;

  /** What the API allows a GpuCheckpoint. */
  private static final Duration SHORTEST = Duration.ofSeconds(10);

  private static final Duration LONGEST = Duration.ofHours(168);

  /** What everything that is made for the eviction of that pod is called. */
  static String base(Pod pod) {
    return base(pod, HEAD);
  }

  private static String base(Pod pod, int longest) {
    String name = pod.getMetadata().getName();
    String head = name.substring(0, Math.min(name.length(), longest)).replaceAll("[^a-z0-9]+$", "");
    String uid = pod.getMetadata().getUid();
    return "evict-" + head + "-" + uid.substring(0, Math.min(uid.length(), OF_UID));
  }

  /** Name of the attempt of that number. */
  static String name(Pod pod, int number) {
    return base(pod) + "-" + number;
  }

  /** Another name for it, where a user has an object of the usual one. */
  static String name(Pod pod, int number, String unforeseen) {
    return base(pod, HEAD - unforeseen.length() - 1) + "-" + unforeseen + "-" + number;
  }

  /** Since when the eviction of that pod is asked for, as the pod says; empty: it is not. */
  static Optional<Instant> since(Pod pod) {
    String text = annotations(pod.getMetadata()).get(Api.EVICT_SINCE_ANNOTATION);
    try {
      return text == null ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /** How long the eviction of that pod may be held. */
  static Duration deadline(Pod pod, EvictionConfig config) {
    Duration otherwise = config.deadline();
    Duration longest =
        otherwise.compareTo(config.maxDeadline()) > 0 ? otherwise : config.maxDeadline();
    Duration asked = asked(pod, otherwise);
    return asked.compareTo(longest) > 0 ? longest : asked;
  }

  private static Duration asked(Pod pod, Duration otherwise) {
    Map<String, String> annotations =
        Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    String asked = annotations.get(Api.EVICT_DEADLINE_ANNOTATION);
    if (asked == null) {
      return otherwise;
    }
    try {
      Duration deadline = TimeSpan.of(asked).duration();
      return deadline.compareTo(SHORTEST) < 0 || deadline.compareTo(LONGEST) > 0
          ? otherwise
          : deadline;
    } catch (IllegalArgumentException e) {
      return otherwise;
    }
  }

  /** Whether it is one. */
  static boolean is(GpuCheckpoint checkpoint) {
    return annotations(checkpoint.getMetadata()).containsKey(Api.EVICT_SINCE_ANNOTATION);
  }

  String name() {
    return checkpoint.getMetadata().getName();
  }

  /** Which attempt it is; its name ends with it. */
  int number() {
    return Integer.parseInt(name().substring(name().lastIndexOf('-') + 1));
  }

  /** When the eviction was first asked for. */
  Instant since() {
    return time(Api.EVICT_SINCE_ANNOTATION);
  }

  /** When it was last asked for. */
  Instant requested() {
    return time(Api.EVICT_REQUESTED_ANNOTATION);
  }

  CheckpointPhase phase() {
    CheckpointPhase phase =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getPhase();
    return Objects.requireNonNullElse(phase, CheckpointPhase.PENDING);
  }

  boolean isCancelled() {
    return Boolean.TRUE.equals(checkpoint.getSpec().getCancel())
        || checkpoint.getMetadata().getDeletionTimestamp() != null;
  }

  /** Whether nothing more comes of it. */
  boolean isOver() {
    return phase().isFinal() || phase() == CheckpointPhase.READY;
  }

  /** When it came to where it is. */
  Instant entered() {
    List<PhaseTime<CheckpointPhase>> phases =
        checkpoint.getStatus() == null || checkpoint.getStatus().getPhases() == null
            ? List.of()
            : checkpoint.getStatus().getPhases();
    return phases.isEmpty() ? since() : phases.get(phases.size() - 1).time();
  }

  /** What the checkpoint says of itself. */
  String message() {
    return Optional.ofNullable(checkpoint.getStatus())
        .map(status -> status.getMessage())
        .orElse("not looked at yet");
  }

  /** The GpuRestore that was left for the pod. */
  Optional<String> restore() {
    return Optional.ofNullable(
        annotations(checkpoint.getMetadata()).get(Api.EVICT_RESTORE_ANNOTATION));
  }

  private Instant time(String annotation) {
    String text = annotations(checkpoint.getMetadata()).get(annotation);
    try {
      return Instant.parse(text == null ? checkpoint.getMetadata().getCreationTimestamp() : text);
    } catch (DateTimeParseException e) {
      return Instant.parse(checkpoint.getMetadata().getCreationTimestamp());
    }
  }

  private static Map<String, String> annotations(ObjectMeta metadata) {
    return Objects.requireNonNullElse(metadata.getAnnotations(), Map.of());
  }
}
