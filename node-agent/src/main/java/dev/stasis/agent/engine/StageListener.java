package dev.stasis.agent.engine;

import java.nio.file.Path;

/**
 * Hears which files of an artifact are final while others are still to be written, so that they can
 * go elsewhere at once. Is called by the threads that do the work, several at a time: must not
 * block, and must not throw.
 */
public interface StageListener {

  /** Hears nothing. */
  StageListener NONE =
      new StageListener() {
        @Override
        public void begins(Path folder) {}

        @Override
        public void grew(Path file, long bytes) {}

        @Override
        public void finished(Path folder) {}
      };

  /** The artifact is made in this folder, which is renamed when it is published. */
  void begins(Path folder);

  /** So many bytes from the beginning of a file are final. */
  void grew(Path file, long bytes);

  /** Every file in that folder of it is final. */
  void finished(Path folder);
}
