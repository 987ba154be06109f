package dev.stasis.operator.pod;

import dev.stasis.operator.status.Backoff;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Evictions that a PodDisruptionBudget refused: the API server is not asked again before a wait
 * that doubles, however often a reconciler asks. In memory only; a new operator asks once more.
 */
final class RefusedEvictions {

  /** A budget's controller counts a pod within a second or two. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** A budget that changes is noticed this late at most; as often as a kubelet writes its node. */
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** Far more pods than are ever evicted at once. */
  private static final int REMEMBERED = 10_000;

  private final Clock clock;
  private final Map<String, Refusal> refusals =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Refusal> eldest) {
              return size() > REMEMBERED;
            }
          });

  private record Refusal(PodWrites.Refused answer, Instant first, Instant due) {}

  RefusedEvictions(Clock clock) {
    this.clock = clock;
  }

  /** Returns the refusal that still counts; empty when the API server may be asked. */
  Optional<PodWrites.Answer> current(String key) {
    return Optional.ofNullable(refusals.get(key))
        .filter(refusal -> clock.instant().isBefore(refusal.due()))
        .map(Refusal::answer);
  }

  /** Remembers what the API server answered. */
  PodWrites.Answer answered(String key, PodWrites.Answer answer) {
    if (!(answer instanceof PodWrites.Refused refused) || !refused.later()) {
      refusals.remove(key);
      return answer;
    }
    Instant now = clock.instant();
    Refusal before = refusals.get(key);
    // One of long ago is of another request.
    Instant first =
        before == null || before.due().plus(LONGEST).isBefore(now) ? now : before.first();
    Instant due = now.plus(new Backoff(FIRST, LONGEST).after(first, now));
    refusals.put(key, new Refusal(refused, first, due));
    return answer;
  }
}
