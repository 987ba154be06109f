package dev.stasis.agent.engine;

import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The images of one dump. criu traces the workload while it writes them, and nothing ends a criu
 * that waits for a disk in the kernel: the workload would be frozen until the disk responds. So
 * criu writes into memory of the node, if there is room, and the images are copied into the
 * artifact. A store in memory needs no such detour.
 */
final class CriuImages {

  private static final System.Logger LOG = System.getLogger(CriuImages.class.getName());

  /** Journals are in the same file system, and other programs may use it. */
  private static final long SHARE_OF_FOLDER = 2;

  /** What a stage in memory leaves to the node, too. */
  private static final long LEFT_BYTES = 1L << 30;

  /** Small enough to report progress on a slow disk. */
  private static final long PIECE_BYTES = 8L << 20;

  /** A disk is not faster with more. */
  private static final int MOST_WRITERS = 4;

  private final Freeze freeze;
  private final Path artifact;
  private final Path folder;

  /**
   * Chooses the folder.
   *
   * @param bytes the most that criu has to write
   */
  CriuImages(Freeze freeze, long bytes) throws IOException {
    this.freeze = freeze;
    this.artifact = freeze.artifact().criu();
    Path memory =
        freeze.node().journal().folderOf(freeze.work().containerId()).resolve("criu-images");
    if (freeze.stage().storeInMemory()) {
      folder = artifact;
    } else if (hasRoom(memory, bytes)) {
      folder = memory;
      Files.createDirectories(folder);
    } else {
      LOG.log(
          System.Logger.Level.INFO,
          "criu writes {0} bytes into the store, because memory has no room for them",
          bytes);
      folder = artifact;
    }
  }

  /** The folder into which criu writes. */
  Path folder() {
    return folder;
  }

  /** Copies the images into the artifact if they are not there, in parallel to the next steps. */
  void keep() {
    freeze.copyBeside(
        () -> {
          try {
            var unused = freeze.storeCalls().call("criu's images of " + artifact, this::kept);
          } catch (IOException e) {
            throw new StepFailure(Reason.STORE_FAILED, "criu's images: " + e.getMessage(), e);
          }
        });
  }

  private Path kept(StoreCalls.Pulse pulse) throws StepFailure, InterruptedException, IOException {
    if (!folder.equals(artifact)) {
      freeze.node().parallel().forEach(shares(), share -> copy(share, pulse));
    }
    pulse.beat();
    freeze.stages().finished(artifact);
    return artifact;
  }

  /**
   * The images of one process are in one large file, and writers of one file wait for each other.
   */
  private List<List<Path>> shares() throws IOException {
    List<List<Path>> shares = new ArrayList<>();
    try (Stream<Path> images = Files.list(folder)) {
      List<Path> largestFirst =
          images
              .sorted(Comparator.comparingLong((Path image) -> -image.toFile().length()))
              .toList();
      for (int at = 0; at < largestFirst.size(); at++) {
        if (at < MOST_WRITERS) {
          shares.add(new ArrayList<>());
        }
        shares.get(at % MOST_WRITERS).add(largestFirst.get(at));
      }
    }
    return shares;
  }

  private void copy(List<Path> images, StoreCalls.Pulse pulse) throws StepFailure {
    try {
      for (Path image : images) {
        copy(image, artifact.resolve(image.getFileName()), pulse);
        // One that was left behind, while it closed the file: by now it is one of a later dump.
        pulse.beat();
        Files.delete(image);
      }
    } catch (IOException e) {
      throw new StepFailure(Reason.STORE_FAILED, "criu's images: " + e.getMessage(), e);
    }
  }

  private static void copy(Path from, Path to, StoreCalls.Pulse pulse) throws IOException {
    try (FileChannel in = FileChannel.open(from);
        FileChannel out =
            FileChannel.open(
                to,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(
                    PosixFilePermissions.fromString("rw-------")))) {
      long size = in.size();
      WriteBehind behind = new WriteBehind(out, WriteBehind.USUAL);
      for (long at = 0; at < size; ) {
        long count = in.transferTo(at, PIECE_BYTES, out);
        if (count <= 0) {
          throw new IOException("%s: expected %d bytes, got %d".formatted(from, size, at));
        }
        at += count;
        behind.wrote(count);
        pulse.beat();
      }
    }
  }

  /** Whether memory of the node has room besides the stage; not where the process lacks its own. */
  private boolean hasRoom(Path memory, long bytes) throws IOException {
    NodeParts node = freeze.node();
    try {
      long available = node.room().found(freeze.source(), 0).nodeFree();
      return freeze.stage().lowMemory() == null
          && available >= bytes + freeze.stage().stagedBytes() + LEFT_BYTES
          && Files.getFileStore(memory.resolveSibling(".")).getUsableSpace()
              >= SHARE_OF_FOLDER * bytes;
    } catch (UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "memory for criu's images", e);
      return false;
    }
  }
}
