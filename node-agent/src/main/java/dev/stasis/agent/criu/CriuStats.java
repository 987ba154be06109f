package dev.stasis.agent.criu;

import java.time.Duration;

/** criu's statistics; missing fields are zero. */
public sealed interface CriuStats {

  /**
   * Statistics of a dump.
   *
   * @param freezing until every process was seized
   * @param frozen how long they were seized
   * @param memoryDump reading memory from the processes
   * @param memoryWrite writing memory
   */
  record Dump(
      Duration freezing,
      Duration frozen,
      Duration memoryDump,
      Duration memoryWrite,
      long pagesScanned,
      long pagesWritten)
      implements CriuStats {}

  /**
   * Statistics of a restore.
   *
   * @param forking creating the processes
   * @param restoring total time
   */
  record Restore(Duration forking, Duration restoring, long pagesRestored) implements CriuStats {}
}
