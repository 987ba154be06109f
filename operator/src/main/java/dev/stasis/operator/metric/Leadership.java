package dev.stasis.operator.metric;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether this replica is the leader. Every replica watches the cluster, so only the leader
 * publishes metrics that are derived from watches: otherwise sums over the replicas would count
 * twice.
 */
public final class Leadership {

  private final List<Runnable> waiting = new ArrayList<>();
  private boolean leads;

  /** This replica is the leader from now on; a leader that loses its lease exits. */
  public synchronized void begin() {
    leads = true;
    waiting.forEach(Runnable::run);
    waiting.clear();
  }

  public synchronized boolean leads() {
    return leads;
  }

  /**
   * Runs the action once this replica is the leader: immediately, or when it becomes the leader.
   */
  public synchronized void whenLeading(Runnable action) {
    if (leads) {
      action.run();
    } else {
      waiting.add(action);
    }
  }
}
