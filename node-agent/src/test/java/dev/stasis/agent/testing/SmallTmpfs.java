package dev.stasis.agent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A tmpfs of its own, which is soon full. */
public final class SmallTmpfs implements AutoCloseable {

  private final Path folder;

  private SmallTmpfs(Path folder) {
    this.folder = folder;
  }

  /** Mounts one. */
  public static SmallTmpfs ofMib(int mib) {
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-small");
      new Sh().must("mount", "-t", "tmpfs", "-o", "size=" + mib + "m", "tmpfs", folder.toString());
      return new SmallTmpfs(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Path file(String name) {
    return folder.resolve(name);
  }

  /** Bytes that it still takes. */
  public long free() {
    try {
      return Files.getFileStore(folder).getUsableSpace();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    new Sh().must("umount", folder.toString());
    try {
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
