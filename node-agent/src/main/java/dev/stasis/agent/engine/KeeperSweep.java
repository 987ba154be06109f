package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Ends the keepers of containers that have ended. A keeper ends by itself if it rests, or waits for
 * a restore; one that an agent could not reach at the end of its operation, or that was left while
 * it started, stays with its context and its memory on the GPU.
 */
final class KeeperSweep {

  private final NodeParts node;

  KeeperSweep(NodeParts node) {
    this.node = node;
  }

  void run() throws InterruptedException {
    try {
      for (String container : node.keepers().known()) {
        // In this order: an operation begins only while the container runs, and records that before
        // it needs a keeper. A recorded one may still need the memory of processes that have ended.
        if (!node.containers().mayRun(container) && !isRecorded(container)) {
          node.keepers().end(container);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("sockets of keepers", e);
    }
  }

  private boolean isRecorded(String container) {
    return node.journal().all().stream().anyMatch(work -> work.containerId().startsWith(container));
  }
}
