package dev.stasis.agent.engine;

import java.nio.file.Path;

/**
 * Receives which files of an artifact are final while others are still written, so that they can be
 * sent immediately. Called by the worker threads, in parallel: must not block or throw.
 */
public interface StageListener {

  /** Ignores everything. */
  StageListener NONE =
      new StageListener() {
        @Override
        public void begins(Path folder) {}

        @Override
        public void grew(Path file, long bytes) {}

        @Override
        public void finished(Path folder) {}
      };

  /** The artifact is written into this folder, which is renamed when it is published. */
  void begins(Path folder);

  /** This many bytes from the beginning of a file are final. */
  void grew(Path file, long bytes);

  /** Every file in that folder of it is final. */
  void finished(Path folder);
}
