package dev.stasis.agent.engine;

import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * Saves device memory that a keeper holds, and gives up when the store does not respond: nothing
 * that needs the GPU may wait for it.
 *
 * @param silence how long a save may make no progress
 * @param calls waits for what still uses the store
 */
record KeeperSave(Keeper keeper, Duration silence, StoreCalls calls) {

  /**
   * Writes the memory of a process.
   *
   * @param saved receives how many bytes from the beginning of the data are final
   */
  void run(ProcessId process, Path file, long bytes, LongConsumer saved)
      throws KeeperFailure, InterruptedException {
    boolean ended = false;
    try {
      keeper.save(process, file, bytes, silence, saved);
      ended = true;
    } catch (KeeperFailure e) {
      ended = !e.connectionLost();
      throw e;
    } finally {
      if (!ended && !keeper.giveUp()) {
        calls.leave(keeper::awaitEnd);
      }
    }
  }
}
