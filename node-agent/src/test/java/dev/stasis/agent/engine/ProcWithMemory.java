package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processes of this machine, with as much available memory as the test says. */
final class ProcWithMemory implements AutoCloseable {

  private final Sh sh = new Sh();
  private final Path folder;
  private final Path meminfo;

  ProcWithMemory() {
    try {
      folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-proc");
      meminfo = Files.createTempFile(Path.of("/var/tmp"), "stasis-meminfo", "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sh.must("mount", "-t", "proc", "proc", folder.toString());
    sh.must("mount", "--bind", meminfo.toString(), folder.resolve("meminfo").toString());
  }

  ProcFs proc() {
    return new ProcFs(folder);
  }

  void available(long bytes) throws IOException {
    Files.writeString(meminfo, "MemAvailable: %d kB\n".formatted(bytes / 1024));
  }

  @Override
  public void close() {
    sh.must("umount", folder.resolve("meminfo").toString());
    sh.must("umount", folder.toString());
    sh.must("rm", "-r", folder.toString(), meminfo.toString());
  }
}
