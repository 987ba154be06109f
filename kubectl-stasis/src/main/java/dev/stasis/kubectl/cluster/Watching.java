package dev.stasis.kubectl.cluster;

import java.time.Duration;
import java.util.Optional;

/** An object that is followed. */
public interface Watching extends AutoCloseable {

  /**
   * The next state of the object; empty when there was none within a time.
   *
   * @throws ClusterFailure when the object was deleted, or the cluster answers no more
   */
  Optional<Resource> next(Duration atMost) throws InterruptedException;

  @Override
  void close();
}
