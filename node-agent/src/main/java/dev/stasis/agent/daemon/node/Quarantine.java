package dev.stasis.agent.daemon.node;

import java.util.Map;
import java.util.TreeMap;

/** GPUs on which nothing new is started, since the state of a workload on them is not known. */
public final class Quarantine {

  private final Map<String, String> fenced = new TreeMap<>();
  private final Runnable changed;

  /**
   * None yet.
   *
   * @param changed told of every change
   */
  public Quarantine(Runnable changed) {
    this.changed = changed;
  }

  /** Fences a GPU off; the first reason is kept. */
  public void fence(String uuid, String why) {
    synchronized (fenced) {
      if (fenced.putIfAbsent(uuid, why) != null) {
        return;
      }
    }
    changed.run();
  }

  /** Lets work onto a GPU again. */
  public void release(String uuid) {
    synchronized (fenced) {
      if (fenced.remove(uuid) == null) {
        return;
      }
    }
    changed.run();
  }

  /** Uuids and reasons. */
  public Map<String, String> fenced() {
    synchronized (fenced) {
      return Map.copyOf(fenced);
    }
  }
}
