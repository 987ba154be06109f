package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process can make its files in /proc as large as it likes. */
class ProcFsLimitsTest {

  private static final int PID = 42;
  private static final int MIB = 1 << 20;

  @TempDir Path root;

  @Test
  void ofALargeEnvironmentTheBeginningIsRead() throws IOException {
    write("environ", "A=1\0B=" + "b".repeat(5 * MIB) + "\0C=3\0");

    assertThat(new ProcFs(root).environment(PID))
        .containsEntry("A", "1")
        .containsOnlyKeys("A", "B");
    refused(
        proc -> proc.environment(PID), "environ of process 42: expected at most 4 MiB, got more");
  }

  @Test
  void theProgramIsKnownHoweverManyArgumentsItHas() throws IOException {
    write("cmdline", "/.stasis/stasis-runtime\0init\0" + "x\0".repeat(3 * MIB));

    assertThat(new ProcFs(root).strict().command(PID))
        .startsWith("/.stasis/stasis-runtime", "init")
        .hasSizeLessThan(5_000);
    refused(proc -> proc.cmdline(PID), "cmdline of process 42: expected at most 4 MiB, got more");
  }

  @Test
  void moreMappingsThanAnyKernelAllowsAreRefused() throws IOException {
    write("maps", "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n".repeat(100_001));

    assertThat(new ProcFs(root).maps(PID)).hasSize(100_000);
    refused(
        proc -> proc.maps(PID),
        "maps of process 42: expected at most 100000 entries of 16 MiB, got more");
  }

  @Test
  void mappingsOfLongPathsAreRefused() throws IOException {
    String line = "7f0000000000-7f0000001000 rw-p 00000000 08:01 9 /" + "p".repeat(4000) + "\n";
    write("maps", line.repeat(5_000));
    write("smaps", (line + "Rss: 4 kB\nVmFlags: rd wr\n").repeat(5_000));

    assertThat(new ProcFs(root).maps(PID)).hasSizeBetween(4_000, 4_999);
    assertThat(new ProcFs(root).smaps(PID)).hasSizeBetween(4_000, 4_999);
    refused(proc -> proc.maps(PID), "maps of process 42: expected at most");
    refused(proc -> proc.smaps(PID), "smaps of process 42: expected at most");
  }

  @Test
  void aLineWithoutAnEndIsNotKept() throws IOException {
    write("mountinfo", "x".repeat(17 * MIB));

    assertThat(new ProcFs(root).mounts(PID)).isEmpty();
    refused(proc -> proc.mounts(PID), "mountinfo of process 42: expected at most");
  }

  @Test
  void moreSocketsThanAPodNeedsAreRefused() throws IOException {
    String socket = "   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 7 1\n";
    write("net/tcp", "  sl  local_address\n" + socket.repeat(60_000));
    write("net/udp", "  sl  local_address\n" + socket.repeat(60_000));

    assertThat(new Sockets(new ProcFs(root)).inet(PID)).hasSize(100_000);
    refused(proc -> new Sockets(proc).inet(PID), "net/udp of process 42: expected at most");
  }

  @Test
  void descriptorsOfLongPathsAreRefused() throws IOException {
    Path folder = Files.createDirectories(root.resolve(PID + "/fd"));
    Path target = Path.of("/" + "p/".repeat(2_000));
    for (int fd = 0; fd < 4_300; fd++) {
      Files.createSymbolicLink(folder.resolve("" + fd), target);
      write("fdinfo/" + fd, "pos:\t0\nflags:\t02\nmnt_id:\t20\n");
    }

    assertThat(new ProcFs(root).openFiles(PID)).hasSizeBetween(4_000, 4_299);
    refused(proc -> proc.openFiles(PID), "fd of process 42: expected at most 16 MiB of paths");
  }

  @Test
  void theStartOfADescriptorIsKnownHoweverMuchItWatches() throws IOException {
    Path folder = Files.createDirectories(root.resolve(PID + "/fd"));
    Files.createSymbolicLink(folder.resolve("3"), Path.of("anon_inode:inotify"));
    write(
        "fdinfo/3",
        "pos:\t0\nflags:\t02\nmnt_id:\t20\n"
            + "inotify wd:1 ino:5 sdev:2 mask:fff\n".repeat(200_000));

    assertThat(new ProcFs(root).strict().openFiles(PID))
        .singleElement()
        .satisfies(file -> assertThat(file.mountId()).isEqualTo(20));
    refused(proc -> proc.fileInfo(PID, 3), "fdinfo/3 of process 42: expected at most 4 MiB");
  }

  private void refused(Function<ProcFs, Object> read, String message) {
    assertThatThrownBy(() -> read.apply(new ProcFs(root).strict()))
        .isInstanceOf(ProcLimitException.class)
        .hasMessageStartingWith(message);
  }

  private void write(String name, String content) throws IOException {
    Path file = root.resolve(PID + "/" + name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }
}
