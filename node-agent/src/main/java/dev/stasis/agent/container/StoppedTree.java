package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcessId;
import java.util.List;

/**
 * Who was stopped, to be noted on disk: whoever undoes it, also after a crash, lets go exactly
 * those that ran before.
 *
 * @param stopped those that were running and that we stopped
 * @param stoppedBefore those that somebody else had stopped; they stay stopped
 */
public record StoppedTree(List<ProcessId> stopped, List<ProcessId> stoppedBefore) {

  public StoppedTree {
    stopped = List.copyOf(stopped);
    stoppedBefore = List.copyOf(stoppedBefore);
  }
}
