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
 * Removes what writers left behind in a store: after an agent was killed while receiving, after an
 * interrupted deletion, or after a crash of the node.
 */
public final class StagingSweep {

  private static final System.Logger LOG = System.getLogger(StagingSweep.class.getName());

  /** For a writer that cannot be checked: no file of an artifact takes that long. */
  private static final Duration UNTOUCHED = Duration.ofDays(1);

  private final Predicate<Path> needed;
  private final Clock clock;

  /**
   * A sweep.
   *
   * @param needed returns whether an operation on this node needs the folder
   */
  public StagingSweep(Predicate<Path> needed, Clock clock) {
    this.needed = needed;
    this.clock = clock;
  }

  /**
   * Sweeps the root of one store.
   *
   * @param shared whether other nodes write to it
   * @return the removed folders
   */
  public List<Path> sweep(Path root, boolean shared) throws IOException {
    List<Path> removed = new ArrayList<>();
    for (Path namespace : ArtifactSweep.folders(root)) {
      removed.addAll(sweepNamespace(namespace, shared));
    }
    return removed;
  }

  /** The same for the folder of one namespace. */
  public List<Path> sweepNamespace(Path namespace, boolean shared) throws IOException {
    List<Path> removed = new ArrayList<>();
    ArtifactStore store = new ArtifactStore(namespace, clock);
    for (Path leftover : store.leftovers(UNTOUCHED, shared)) {
      if (!needed.test(leftover)) {
        store.sweep(List.of(leftover));
        removed.add(leftover);
        LOG.log(Level.INFO, "Deleted the staging folder {0}: its writer has ended", leftover);
      }
    }
    return removed;
  }
}
