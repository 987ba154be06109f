package dev.stasis.agent.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system on a folder that runs full when a test says so. */
public final class SmallDisk implements AutoCloseable {

  private final Path folder;

  /** Mounts it on an existing folder. */
  public SmallDisk(Path folder, int mib) {
    this.folder = folder;
    new Sh().must("mount", "-t", "tmpfs", "-o", "size=" + mib + "m", "tmpfs", folder.toString());
  }

  private Path other() {
    return folder.resolve("of-another-program");
  }

  /** Takes all room; has no effect on a disk that is full. Threads that write there may call it. */
  public synchronized void fill() {
    if (Files.exists(other())) {
      return;
    }
    try (OutputStream out = Files.newOutputStream(other())) {
      byte[] block = new byte[1 << 16];
      // Once: Java reads all mounts of the machine to find it.
      FileStore store = Files.getFileStore(folder);
      for (long left = store.getUsableSpace(); left > 0; left = store.getUsableSpace()) {
        out.write(block, 0, (int) Math.min(block.length, left));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives back what {@link #fill} took. */
  public void free() {
    try {
      Files.delete(other());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    new Sh().must("umount", folder.toString());
  }
}
