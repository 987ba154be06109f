package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Every phase that an object entered, with the time.
 *
 * @param times oldest first
 */
public record PhaseLog<P extends Enum<P> & Phase<P>>(List<PhaseTime<P>> times) {

  /**
   * A workload can be suspended and resumed any number of times, but a status is limited: the first
   * entry of each phase and the newest are kept. The first suspension has written the artifact.
   */
  private static final int ENTRIES = 50;

  public PhaseLog {
    times = List.copyOf(times);
  }

  /** Returns the phases in a status; none without one. */
  public static <P extends Enum<P> & Phase<P>> PhaseLog<P> of(@Nullable PhasedStatus<P> status) {
    List<PhaseTime<P>> times = status == null ? null : status.getPhases();
    return new PhaseLog<>(times == null ? List.of() : times);
  }

  /** Returns when the current phase was entered; empty before the first. */
  public Optional<Instant> since() {
    return times.isEmpty() ? Optional.empty() : Optional.of(times.get(times.size() - 1).time());
  }

  /** Returns when a phase was entered first. */
  public Optional<Instant> first(P phase) {
    return entries(phase).findFirst();
  }

  /** Returns when a phase was entered last. */
  public Optional<Instant> last(P phase) {
    return entries(phase).reduce((one, next) -> next);
  }

  private Stream<Instant> entries(P phase) {
    return times.stream().filter(entered -> entered.phase() == phase).map(PhaseTime::time);
  }

  /** Returns the current phase; empty before the first. */
  public Optional<P> current() {
    return times.isEmpty() ? Optional.empty() : Optional.of(times.get(times.size() - 1).phase());
  }

  /**
   * Returns a log with one more phase, or this log if the object is in that phase already.
   * Intermediate phases may be missing, because the agents keep working while no operator writes
   * the status.
   *
   * @param time the time, in whole seconds, never before that of the previous phase
   * @throws IllegalStateException if no sequence of phases leads there, in particular from a final
   *     phase
   */
  public PhaseLog<P> entered(P phase, Instant time) {
    if (times.isEmpty()) {
      return new PhaseLog<>(List.of(new PhaseTime<>(phase, time.truncatedTo(ChronoUnit.SECONDS))));
    }
    PhaseTime<P> last = times.get(times.size() - 1);
    if (last.phase() == phase) {
      return this;
    }
    if (!leadsTo(last.phase(), phase)) {
      throw new IllegalStateException(
          "phase: after %s expected one of %s, got %s"
              .formatted(
                  last.phase().value(),
                  last.phase().successors().stream().map(Phase::value).sorted().toList(),
                  phase.value()));
    }
    Instant second = time.truncatedTo(ChronoUnit.SECONDS);
    List<PhaseTime<P>> all = new ArrayList<>(times);
    all.add(new PhaseTime<>(phase, second.isBefore(last.time()) ? last.time() : second));
    while (all.size() > ENTRIES) {
      all.remove(oldestRepetition(all));
    }
    return new PhaseLog<>(all);
  }

  private static <P extends Enum<P> & Phase<P>> int oldestRepetition(List<PhaseTime<P>> all) {
    Set<P> seen = new HashSet<>();
    int index = 0;
    while (seen.add(all.get(index).phase())) {
      index++;
    }
    return index;
  }

  private static <P extends Enum<P> & Phase<P>> boolean leadsTo(P from, P to) {
    Set<P> reached = EnumSet.copyOf(Set.of(from));
    Deque<P> open = new ArrayDeque<>(reached);
    while (!open.isEmpty()) {
      for (P successor : open.remove().successors()) {
        if (successor == to) {
          return true;
        }
        if (reached.add(successor)) {
          open.add(successor);
        }
      }
    }
    return false;
  }
}
