package dev.stasis.operator.owner;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Runs one action for many requests. A thread that finds the action running does not wait: the
 * running thread runs it once more. Every request is therefore followed by a complete run, and
 * hundreds of parallel requests by two.
 */
final class Coalesced {

  private final BooleanSupplier action;
  private final ReentrantLock running = new ReentrantLock();
  private final AtomicLong requests = new AtomicLong();

  /** Number of requests seen by the last run; written by the thread that runs it. */
  private volatile long seen;

  Coalesced(BooleanSupplier action) {
    this.action = action;
  }

  /**
   * Ensures that the action is run once more.
   *
   * @return the result of the action; true if another thread runs it
   */
  boolean request() {
    requests.incrementAndGet();
    boolean done = true;
    while (seen != requests.get() && running.tryLock()) {
      try {
        seen = requests.get();
        done = action.getAsBoolean();
      } finally {
        running.unlock();
      }
    }
    return done;
  }
}
