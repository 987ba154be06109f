package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.PhaseLog;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/**
 * An attempt to checkpoint a pod before its eviction: a GpuCheckpoint with annotations for the
 * times of the first and the last request of the eviction.
 *
 * @param checkpoint the GpuCheckpoint
 */
record EvictionAttempt(GpuCheckpoint checkpoint) {

  /** Characters of the pod's name: number and uid must fit into 63, too. */
  private static final int HEAD = 40;

  private static final int OF_UID = 8;

  /** The API's limit for a GpuCheckpoint. */
  private static final Duration SHORTEST = Duration.ofSeconds(10);

  private static final Duration LONGEST = Duration.ofHours(168);

  /** Returns the prefix of the names of all objects for the eviction of a pod. */
  static String base(Pod pod) {
    return base(pod, HEAD);
  }

  private static String base(Pod pod, int longest) {
    String name = pod.getMetadata().getName();
    String head = name.substring(0, Math.min(name.length(), longest)).replaceAll("[^a-z0-9]+$", "");
    String uid = pod.getMetadata().getUid();
    return "evict-" + head + "-" + uid.substring(0, Math.min(uid.length(), OF_UID));
  }

  static String name(Pod pod, int number) {
    return base(pod) + "-" + number;
  }

  /** Returns another name, if a user has an object with the usual one. */
  static String name(Pod pod, int number, String unforeseen) {
    return base(pod, HEAD - unforeseen.length() - 1) + "-" + unforeseen + "-" + number;
  }

  /**
   * Returns since when the eviction of a pod is requested, by its annotation; empty if it is not.
   */
  static Optional<Instant> since(Pod pod) {
    String text = Marks.annotations(pod).get(Api.EVICT_SINCE_ANNOTATION);
    try {
      return text == null ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /** Returns how long the eviction of a pod may be refused. */
  static Duration deadline(Pod pod, EvictionConfig config) {
    Duration otherwise = config.deadline();
    Duration longest =
        otherwise.compareTo(config.maxDeadline()) > 0 ? otherwise : config.maxDeadline();
    Duration asked = asked(pod, otherwise);
    return asked.compareTo(longest) > 0 ? longest : asked;
  }

  private static Duration asked(Pod pod, Duration otherwise) {
    String asked = Marks.annotations(pod).get(Api.EVICT_DEADLINE_ANNOTATION);
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

  static boolean is(GpuCheckpoint checkpoint) {
    return Marks.annotations(checkpoint).containsKey(Api.EVICT_SINCE_ANNOTATION);
  }

  String name() {
    return checkpoint.getMetadata().getName();
  }

  /** Returns its number, the suffix of its name. */
  int number() {
    return Integer.parseInt(name().substring(name().lastIndexOf('-') + 1));
  }

  /** Returns the time of the first eviction request. */
  Instant since() {
    return time(Api.EVICT_SINCE_ANNOTATION);
  }

  Instant requested() {
    return time(Api.EVICT_REQUESTED_ANNOTATION);
  }

  CheckpointPhase phase() {
    return CurrentPhase.of(checkpoint);
  }

  boolean isCancelled() {
    return Boolean.TRUE.equals(checkpoint.getSpec().getOptions().getCancel())
        || checkpoint.getMetadata().getDeletionTimestamp() != null;
  }

  boolean isOver() {
    return phase().isFinal() || phase() == CheckpointPhase.READY;
  }

  /** Returns when it entered its phase. */
  Instant entered() {
    return PhaseLog.of(checkpoint.getStatus()).since().orElseGet(this::since);
  }

  String message() {
    return Optional.ofNullable(checkpoint.getStatus())
        .map(status -> status.getMessage())
        .orElse("not reconciled yet");
  }

  /** Returns the GpuRestore that was created for the pod. */
  Optional<String> restore() {
    return Optional.ofNullable(Marks.annotations(checkpoint).get(Api.EVICT_RESTORE_ANNOTATION));
  }

  private Instant time(String annotation) {
    String text = Marks.annotations(checkpoint).get(annotation);
    try {
      return Instant.parse(text == null ? checkpoint.getMetadata().getCreationTimestamp() : text);
    } catch (DateTimeParseException e) {
      return Instant.parse(checkpoint.getMetadata().getCreationTimestamp());
    }
  }
}
