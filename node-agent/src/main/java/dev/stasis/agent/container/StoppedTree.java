package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcessId;
import java.util.List;

/**
 * The processes that were stopped, to be recorded on disk. An undo, also after a crash, continues
 * exactly those that ran before.
 *
 * @param stopped those that were running and that we stopped
 * @param stoppedBefore those that were already stopped; they stay stopped
 */
public record StoppedTree(List<ProcessId> stopped, List<ProcessId> stoppedBefore) {

  public StoppedTree {
    stopped = List.copyOf(stopped);
    stoppedBefore = List.copyOf(stoppedBefore);
  }
}
