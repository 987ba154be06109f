package dev.stasis.agent.daemon.operation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** When each step of an operation began, in order; one that comes again stands there again. */
final class StepLog {

  /** A step, and when it began. */
  record Begun(String step, Instant at) {}

  private final List<Begun> begun = new ArrayList<>();

  synchronized void began(String step, Instant at) {
    begun.add(new Begun(step, at));
  }

  synchronized List<Begun> all() {
    return List.copyOf(begun);
  }
}
