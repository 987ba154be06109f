package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Estimates the size of the archives of a {@link LayerPacker} while the workload runs. */
public final class LayerSize {

  /** The header of an entry and its padding, on average. */
  private static final long HEADER = 1024;

  /** A million files take about ten seconds; files beyond that are not counted. */
  private static final long MOST_ENTRIES = 1_000_000;

  private long bytes;
  private long aheadBytes;
  private long entries;

  /**
   * What archives would have, in bytes.
   *
   * @param bytes all of it
   * @param aheadBytes the part of it that can be packed while the workload runs
   */
  public record Estimate(long bytes, long aheadBytes) {}

  /** Estimates; the parameters are those of the packer. */
  public Estimate of(@Nullable Path upper, Path root, List<String> volumes) {
    bytes = 0;
    aheadBytes = 0;
    entries = 0;
    if (upper != null) {
      try (Handle changed = Handle.ofTrusted(upper)) {
        below(changed);
      } catch (IOException e) {
        // The packer reports what it cannot read.
        bytes += HEADER;
      }
    }
    for (String volume : volumes) {
      try (Handle container = Handle.ofTrusted(root);
          Handle folder = container.folderInRoot(MountTargets.bytes(volume))) {
        below(folder);
      } catch (IOException e) {
        bytes += HEADER;
      }
    }
    return new Estimate(bytes, aheadBytes);
  }

  private record Level(Handle folder, Listing names) {}

  /** Folders can be nested deeper than the stack allows. */
  private void below(Handle top) throws IOException {
    boolean ahead = top.keepsTimesOfChange();
    long first = entries;
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(top, new Listing(top)));
    try {
      while (!levels.isEmpty() && entries < MOST_ENTRIES) {
        Level level = levels.getFirst();
        String name = level.names.next();
        if (name == null) {
          if (levels.pop().folder != top) {
            level.folder.close();
          }
        } else {
          child(level.folder, name, levels, ahead && entries - first < PackedAhead.MOST);
        }
      }
    } finally {
      levels.stream().map(Level::folder).filter(folder -> folder != top).forEach(Handle::close);
    }
  }

  private void child(Handle parent, String name, Deque<Level> levels, boolean ahead) {
    entries++;
    bytes += HEADER;
    try (Handle inode = parent.at(name)) {
      Stat stat = inode.stat();
      if (stat.type() == Stat.Type.FILE) {
        // A sparse file is packed as one, and one with several names once.
        long stored = Math.min(stat.size(), stat.allocated()) / Math.max(1, stat.links());
        bytes += stored;
        aheadBytes += ahead && stat.links() == 1 ? stored : 0;
      } else if (stat.type() == Stat.Type.FOLDER) {
        Handle folder = parent.folder(name);
        levels.push(new Level(folder, new Listing(folder)));
      }
    } catch (IOException e) {
      // Gone meanwhile, or a mount point, which is not packed.
      bytes -= HEADER;
    }
  }
}
