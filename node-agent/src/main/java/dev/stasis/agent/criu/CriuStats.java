package dev.stasis.agent.criu;

import java.time.Duration;

/** What criu says of its own work; empty fields are zero. */
public sealed interface CriuStats {

  /**
   * Of a dump.
   *
   * @param freezing until every process was seized
   * @param frozen while they were held
   * @param memoryDump reading memory out of the processes
   * @param memoryWrite writing it
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
   * Of a restore.
   *
   * @param forking making the processes
   * @param restoring all of it
   */
  record Restore(Duration forking, Duration restoring, long pagesRestored) implements CriuStats {}
}
