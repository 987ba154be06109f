package dev.stasis.operator.pod;

import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.status.Backoff;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Requests that a reconciler repeats until another state changes, such as an eviction that a
 * PodDisruptionBudget refuses. The API server is called again only after an interval that doubles,
 * however often a reconciler asks. The state is in memory only; a new operator repeats the request
 * once.
 */
final class RepeatedRequests {

  /** A budget's controller counts a pod, and a kubelet resizes one, within a second or two. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** Far more pods than are ever evicted at once. */
  private static final int REMEMBERED = 10_000;

  private final Clock clock;
  private final RecentMap<String, Repeated> answers = new RecentMap<>(REMEMBERED);

  private record Repeated(String what, PodWrites.Answer answer, Instant first, Instant due) {}

  RepeatedRequests(Clock clock) {
    this.clock = clock;
  }

  /**
   * Returns the last answer while it is valid; empty if the API server may be called.
   *
   * @param key the pod, and the kind of request
   * @param what the content of the request; a different content is sent immediately
   */
  Optional<PodWrites.Answer> current(String key, String what) {
    return answers
        .get(key)
        .filter(it -> it.what().equals(what) && clock.instant().isBefore(it.due()))
        .map(Repeated::answer);
  }

  /** Stores the API server's answer. */
  PodWrites.Answer answered(String key, String what, PodWrites.Answer answer) {
    Instant now = clock.instant();
    // An old one belongs to another request.
    Instant first =
        answers
            .get(key)
            .filter(it -> it.what().equals(what))
            .filter(it -> !it.due().plus(Backoff.FROZEN).isBefore(now))
            .map(Repeated::first)
            .orElse(now);
    Instant due = now.plus(new Backoff(FIRST, Backoff.FROZEN).after(first, now));
    answers.put(key, new Repeated(what, answer, first, due));
    return answer;
  }

  /** The same for an answer that is valid only if it is a refusal. */
  PodWrites.Answer refused(String key, PodWrites.Answer answer) {
    if (answer instanceof PodWrites.Refused refused && refused.later()) {
      return answered(key, "", answer);
    }
    answers.remove(key);
    return answer;
  }
}
