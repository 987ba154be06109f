package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The images of one dump. criu traces the workload while it writes them, and nothing ends a criu
 * that waits for a disk in the kernel: the workload would be frozen until the disk responds. So
 * criu writes into memory of the node, if there is room, and the images are copied into the
 * artifact. A store in memory needs no such detour.
 */
final class CriuImages implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(CriuImages.class.getName());

  /** The folder in memory, in that of the container's journal. */
  static final String FOLDER = "criu-images";

  /** Journals are in the same file system, and other programs may use it. */
  private static final long SHARE_OF_FOLDER = 2;

  /** What a stage in memory leaves to the node, too. */
  private static final long LEFT_BYTES = 1L << 30;

  private final Freeze freeze;
  private final Path artifact;
  private final Path folder;

  /**
   * Chooses the folder.
   *
   * @param bytes the most that criu has to write
   */
  CriuImages(Freeze freeze, long bytes) throws IOException, InterruptedException {
    this.freeze = freeze;
    this.artifact = freeze.artifact().criu();
    Path memory = freeze.node().journal().folderOf(freeze.work().containerId()).resolve(FOLDER);
    if (freeze.stage().storeInMemory()) {
      folder = artifact;
    } else if (isReserved(memory, bytes)) {
      folder = memory;
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

  /**
   * Copies the images into the artifact if they are not there, in parallel to the next steps. Those
   * of a workload that resumes are copied after its thaw, by the publication.
   */
  void keep() {
    if (!folder.equals(artifact) && freeze.request().after() == After.RESUME) {
      return;
    }
    freeze.copyBeside(
        () -> {
          try {
            var unused = freeze.storeCalls().call("criu's images of " + artifact, this::kept);
          } catch (IOException e) {
            throw new StepFailure(Reason.STORE_FAILED, "criu's images: " + e.getMessage(), e);
          }
        });
  }

  private Path kept(StoreCalls.Pulse pulse) throws IOException, InterruptedException {
    if (!folder.equals(artifact)) {
      new ImageCopy(folder, artifact).run(freeze.node().parallel(), pulse::beat);
    }
    pulse.beat();
    freeze.stages().finished(artifact);
    return artifact;
  }

  /**
   * Reserves memory of the node, if there is room besides all that is reserved; not where the
   * process lacks its own.
   */
  private boolean isReserved(Path memory, long bytes) throws IOException, InterruptedException {
    if (freeze.stage().lowMemory() != null) {
      return false;
    }
    NodeParts node = freeze.node();
    MemoryLedger ledger = node.ledger();
    try (HostLocks.Held held = ledger.open()) {
      long available = new Room(node.proc()).found(freeze.source(), 0).nodeFree();
      long usable = Files.getFileStore(memory.resolveSibling(".")).getUsableSpace();
      boolean room =
          available >= ledger.total().hostBytes() + bytes + LEFT_BYTES
              && usable >= ledger.imageBytes() + SHARE_OF_FOLDER * bytes;
      if (room) {
        Files.createDirectories(memory);
        ledger.promiseImages(freeze.work().containerId(), bytes);
      }
      return room;
    } catch (StepFailure | UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "memory for criu's images", e);
      return false;
    }
  }

  /** criu has ended: the kernel counts what it has written. */
  @Override
  public void close() {
    freeze.node().ledger().giveBackImages(freeze.work().containerId());
  }
}
