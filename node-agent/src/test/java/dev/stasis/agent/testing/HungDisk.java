package dev.stasis.agent.testing;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A file system on a folder that stops responding when a test says so: it is frozen. Each write
 * then waits in the kernel, where SIGKILL does not end it, as with a dying disk.
 */
public final class HungDisk implements AutoCloseable {

  private final Path image;
  private final Path folder;
  private boolean hangs;

  private HungDisk(Path image, Path folder) {
    this.image = image;
    this.folder = folder;
  }

  /**
   * Mounts one; skips the test if this machine cannot.
   *
   * @param image a file to make; in memory, because the disk of a test machine may be slow
   * @param folder an existing folder
   */
  public static HungDisk mount(Path image, Path folder) {
    assumeTrue(
        Files.exists(Path.of("/dev/loop-control")),
        "needs loop devices: load the kernel module loop");
    Sh sh = new Sh();
    sh.must("truncate", "--size", "400M", image.toString());
    sh.must("mkfs.ext4", "-q", "-F", image.toString());
    sh.must("mount", "-o", "loop", image.toString(), folder.toString());
    return new HungDisk(image, folder);
  }

  /** Stops responding; has no effect on one that has stopped. */
  public synchronized void hang() {
    if (!hangs) {
      new Sh().must("fsfreeze", "--freeze", folder.toString());
      hangs = true;
    }
  }

  /** Responds again. */
  public synchronized void respond() {
    if (hangs) {
      new Sh().must("fsfreeze", "--unfreeze", folder.toString());
      hangs = false;
    }
  }

  /** Returns whether it does not respond. */
  public synchronized boolean hangs() {
    return hangs;
  }

  /** Unmounts it, once nothing uses it. */
  @Override
  public void close() {
    respond();
    await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .untilAsserted(() -> new Sh().must("umount", folder.toString()));
    try {
      Files.delete(image);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
