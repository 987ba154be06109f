package dev.stasis.agent.engine;

import dev.stasis.artifact.FailedSyncException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The record that a sync of a staging folder has failed: no later attempt, also of another agent,
 * may publish an artifact from it ({@link FailedSyncException}). It has the name of that folder, so
 * that a thread that was left behind says nothing about a later checkpoint of the container.
 *
 * @param file an empty file
 */
record FailedSync(Path file) {

  /**
   * The record for a stage, whether it exists or not.
   *
   * @param folder the folder of the container's journal
   */
  static FailedSync of(Path folder, Path staging) {
    return new FailedSync(folder.resolve("failed-sync" + staging.getFileName()));
  }

  boolean exists() {
    return !Files.notExists(file);
  }

  /** Writes it; the cause gets the failure to do so. */
  void write(FailedSyncException cause) {
    try {
      Files.write(file, new byte[0]);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }
}
