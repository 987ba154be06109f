package dev.stasis.agent.daemon.sweep;

import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Removes what writers left behind in a store: an agent that was killed while it received, a
 * deletion that was cut short, everything that was being written when the node went down.
 */
public final class StagingSweep {

  private static final System.Logger LOG = System.getLogger(StagingSweep.class.getName());

  /** Of a writer that cannot be asked: no file of an artifact takes that long. */
  private static final Duration UNTOUCHED = Duration.ofDays(1);

  private final Predicate<Path> needed;
  private final Clock clock;

  /**
   * A sweep.
   *
   * @param needed whether work in hand on this node needs that folder, so that it stays
   */
  public StagingSweep(Predicate<Path> needed, Clock clock) {
    this.needed = needed;
    this.clock = clock;
  }

  /**
   * Sweeps the root of one store.
   *
   * @param shared whether other nodes write to it
   * @return the folders that were removed
   */
  public List<Path> sweep(Path root, boolean shared) throws IOException {
    List<Path> removed = new ArrayList<>();
    for (Path namespace : ArtifactSweep.folders(root)) {
      ArtifactStore store = new ArtifactStore(namespace, clock);
      for (Path leftover : store.leftovers(UNTOUCHED, shared)) {
        if (!needed.test(leftover)) {
          store.sweep(List.of(leftover));
          removed.add(leftover);
          LOG.log(Level.INFO, "staging folder {0} is removed: its writer is gone", leftover);
        }
      }
    }
    return removed;
  }
}
