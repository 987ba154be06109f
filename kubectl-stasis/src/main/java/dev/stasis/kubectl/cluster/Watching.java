package dev.stasis.kubectl.cluster;

import java.time.Duration;
import java.util.Optional;

/** A watched object. */
public interface Watching extends AutoCloseable {

  /**
   * Returns the next state of the object; empty if there was none within the time.
   *
   * @throws ClusterFailure if the object was deleted, or the cluster no longer answers
   */
  Optional<Resource> next(Duration atMost) throws InterruptedException;

  @Override
  void close();
}
