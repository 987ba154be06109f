package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Unpacks what {@link LayerPacker} packed into a waiting container, through the container's own
 * root. Neither the archives nor the container's files are trusted: every step goes by the kernel's
 * confined resolution below an open folder, through no link and onto no mount, and what the
 * target's own runtime and hooks made stays as it is.
 */
public final class LayerUnpacker {
  private final List<String> mountPoints;

  /**
   * @param mountPoints every mount point of the target container
   */
  public LayerUnpacker(List<String> mountPoints) {
    this.mountPoints = List.copyOf(mountPoints);
  }

  /**
   * What was done.
   *
   * @param entries files, folders and deletions that were applied
   * @param leftAlone paths of the archives that were not, each with the reason
   */
  public record Unpacked(long entries, List<String> leftAlone) {
    public Unpacked {
      leftAlone = List.copyOf(leftAlone);
    }
  }

  /**
   * Makes the target's files those of the source. Existing files are replaced, deleted ones
   * deleted, volumes emptied first; mounts inside are left alone.
   *
   * @param folder the folder with the archives and their index
   * @param root the target's root: {@code /proc/HOLDER/root}
   * @throws IOException when anything cannot be made as it was; the target is then of no use
   */
  public Unpacked unpack(Path folder, Path root) throws IOException {
    long entries = 0;
    List<String> leftAlone = new ArrayList<>();
    try (Handle container = Handle.ofTrusted(root)) {
      for (LayerIndex.Part part : LayerIndex.read(folder).parts()) {
        List<String> mounts = part.isLayer() ? mountPoints : List.of();
        try (Handle target = container.folderInRoot(MountTargets.bytes(part.target()));
            PaxReader archive = new PaxReader(folder.resolve(part.archive()))) {
          TreeUnpacker unpacker =
              new TreeUnpacker(target, new HookFiles(MountTargets.of(mounts)), part.isLayer());
          entries += unpacker.unpack(archive);
          leftAlone.addAll(unpacker.leftAlone());
        } catch (IOException e) {
          throw new IOException("%s of the target: %s".formatted(part.target(), e.getMessage()), e);
        }
      }
    }
    return new Unpacked(entries, leftAlone);
  }
}
