package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Unpacks the archives of {@link LayerPacker} into a waiting container, through the container's own
 * root. Neither the archives nor the container's files are trusted: every step uses the kernel's
 * confined resolution below an open folder, through no link and onto no mount. Files of the
 * target's own runtime and hooks are not changed.
 */
public final class LayerUnpacker {
  /** A pod has a few dozen volumes; an index with more is not one of ours. */
  private static final int MOST_PARTS = 1000;

  private final List<String> mountPoints;
  private final VolumeGuard guard;
  private final int threads;

  /**
   * @param mountPoints every mount point of the target container
   * @param guard decides which of its volumes may be replaced
   * @param threads how many copy a large file
   */
  public LayerUnpacker(List<String> mountPoints, VolumeGuard guard, int threads) {
    this.mountPoints = List.copyOf(mountPoints);
    this.guard = guard;
    this.threads = threads;
  }

  /**
   * The result.
   *
   * @param entries number of files, folders and deletions that were applied
   * @param leftAlone paths of the archives that were not applied, each with the reason
   */
  public record Unpacked(long entries, List<String> leftAlone) {
    public Unpacked {
      leftAlone = List.copyOf(leftAlone);
    }
  }

  /**
   * Returns the volumes of the target that must not be replaced; changes nothing.
   *
   * @param folder the folder with the archives and their index
   * @param root the target's root: {@code /proc/HOLDER/root}
   */
  public List<VolumeGuard.Misfit> misfits(Path folder, Path root) throws IOException {
    List<VolumeGuard.Misfit> misfits = new ArrayList<>();
    try (Handle container = Handle.ofTrusted(root)) {
      for (LayerIndex.Part part : parts(folder)) {
        try (Handle target = target(container, part)) {
          misfit(part, target).ifPresent(misfits::add);
        } catch (LinuxError e) {
          misfits.add(
              new VolumeGuard.Misfit("volume " + part.target(), "a folder", e.getMessage() + ""));
        }
      }
    }
    return misfits;
  }

  /**
   * Makes the target's files equal to those of the source. Existing files are replaced, deleted
   * ones deleted, volumes emptied first; mounts inside them are not changed.
   *
   * @param folder the folder with the archives and their index
   * @param root the target's root: {@code /proc/HOLDER/root}
   * @throws IOException if anything cannot be applied; the target is then unusable. If a volume
   *     must not be replaced, nothing was changed
   */
  public Unpacked unpack(Path folder, Path root) throws IOException {
    long entries = 0;
    List<String> leftAlone = new ArrayList<>();
    List<VolumeGuard.Misfit> misfits = misfits(folder, root);
    if (!misfits.isEmpty()) {
      throw new IOException(misfits.get(0).sentence());
    }
    try (Handle container = Handle.ofTrusted(root)) {
      for (LayerIndex.Part part : parts(folder)) {
        List<String> mounts = part.isLayer() ? mountPoints : List.of();
        try (Handle target = target(container, part);
            PaxReader archive = new PaxReader(folder.resolve(part.archive()), threads)) {
          // Checked again for the opened folder that is written to: its path may point elsewhere by
          // now.
          Optional<VolumeGuard.Misfit> misfit = misfit(part, target);
          if (misfit.isPresent()) {
            throw new IOException(misfit.get().sentence());
          }
          TreeUnpacker unpacker =
              new TreeUnpacker(
                  target,
                  new HookFiles(MountTargets.of(mounts)),
                  part.isLayer() ? Set.of() : guard.mounted(part.target(), container),
                  part.isLayer());
          entries += unpacker.unpack(archive);
          leftAlone.addAll(unpacker.leftAlone());
        } catch (IOException e) {
          throw new IOException("%s of the target: %s".formatted(part.target(), e.getMessage()), e);
        }
      }
    }
    return new Unpacked(entries, leftAlone);
  }

  private static List<LayerIndex.Part> parts(Path folder) throws IOException {
    List<LayerIndex.Part> parts = LayerIndex.read(folder).parts();
    if (parts.size() > MOST_PARTS) {
      throw new IOException(
          "layer index: expected at most %d archives, got %d".formatted(MOST_PARTS, parts.size()));
    }
    return parts;
  }

  private static Handle target(Handle container, LayerIndex.Part part) throws IOException {
    return container.folderInRoot(MountTargets.bytes(part.target()));
  }

  private Optional<VolumeGuard.Misfit> misfit(LayerIndex.Part part, Handle target)
      throws IOException {
    return part.isLayer() ? Optional.empty() : guard.misfit(part.target(), target);
  }
}
