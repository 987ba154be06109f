package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** The processes of this machine, with the limits and the available memory that a test states. */
final class ProcWithMemory implements AutoCloseable {

  private final Sh sh = new Sh();
  private final Path folder;
  private final Path meminfo;
  private final Deque<Path> limits = new ArrayDeque<>();

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

  /** Sets a limit that the kernel has for the whole machine, such as sys/vm/max_map_count. */
  void limit(String setting, long value) throws IOException {
    Path file = Files.createTempFile(Path.of("/var/tmp"), "stasis-limit", "");
    Files.writeString(file, value + "\n");
    sh.must("mount", "--bind", file.toString(), folder.resolve(setting).toString());
    Files.delete(file);
    limits.push(folder.resolve(setting));
  }

  /** Replaces a file of a process. */
  void has(int pid, String name, String content) throws IOException {
    Path file = Files.createTempFile(Path.of("/var/tmp"), "stasis-file", "");
    Files.writeString(file, content);
    Path replaced = folder.resolve(pid + "/" + name);
    sh.must("mount", "--bind", file.toString(), replaced.toString());
    Files.delete(file);
    limits.push(replaced);
  }

  @Override
  public void close() {
    limits.forEach(limit -> sh.must("umount", limit.toString()));
    sh.must("umount", folder.resolve("meminfo").toString());
    sh.must("umount", folder.toString());
    sh.must("rm", "-r", folder.toString(), meminfo.toString());
  }
}
