package dev.stasis.agent.tmpfs;

import com.sun.jna.Native;
import dev.stasis.agent.process.LibC;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Lets files in the memory stage have huge pages, if the program that writes them asks for them
 * (mount option {@code huge=advise} of tmpfs). With pages of 4 KiB, most of the time of a copy goes
 * into their allocation. The option applies to the whole file system, usually {@code /dev/shm} of
 * the node, until the next boot; programs that do not ask for huge pages notice nothing.
 *
 * @param proc of this machine
 */
public record StageHugePages(ProcFs proc) {
  private static final String TMPFS = "tmpfs";
  private static final String OPTION = "huge";
  private static final String ADVISE = "advise";

  /**
   * Sets the option, unless the file system has it or another one already.
   *
   * @param stage an existing folder
   * @return the value of the option
   * @throws IOException if files there cannot have huge pages, with the reason
   */
  public String allow(Path stage) throws IOException {
    Path real = stage.toRealPath();
    Optional<Mount> mount = mountOf(real);
    if (mount.isEmpty() || !mount.get().type().equals(TMPFS)) {
      throw new IOException("%s: expected a tmpfs, got %s".formatted(stage, typeOf(mount)));
    }
    if (mount.get().superOption(OPTION).isEmpty()) {
      reconfigure(mount.get().mountPoint());
    }
    return mountOf(real)
        .flatMap(now -> now.superOption(OPTION))
        .orElseThrow(() -> new IOException("the kernel ignores huge=advise"));
  }

  private static String typeOf(Optional<Mount> mount) {
    return mount.map(Mount::type).orElse("no mount");
  }

  /** Of mounts at the same place the last one is seen. */
  private Optional<Mount> mountOf(Path folder) throws IOException {
    int own = Math.toIntExact(ProcessHandle.current().pid());
    return proc.mounts(own).stream()
        .filter(mount -> folder.startsWith(mount.mountPoint()))
        .reduce((one, next) -> depth(next) >= depth(one) ? next : one);
  }

  private static int depth(Mount mount) {
    return Path.of(mount.mountPoint()).getNameCount();
  }

  /** Changes this option only; a classic remount would replace the flags of the mount too. */
  private static void reconfigure(String mountPoint) throws IOException {
    LibC libc = LibC.INSTANCE;
    int context =
        checked(libc.syscall(LibC.SYS_FSPICK, (long) LibC.AT_FDCWD, z(mountPoint), 0L), mountPoint);
    try {
      checked(
          libc.syscall(
              LibC.SYS_FSCONFIG,
              (long) context,
              LibC.FSCONFIG_SET_STRING,
              z(OPTION),
              z(ADVISE),
              0L),
          mountPoint);
      checked(
          libc.syscall(
              LibC.SYS_FSCONFIG, (long) context, LibC.FSCONFIG_CMD_RECONFIGURE, 0L, 0L, 0L),
          mountPoint);
    } finally {
      libc.close(context);
    }
  }

  private static int checked(long result, String mountPoint) throws IOException {
    if (result < 0) {
      throw new IOException(
          "%s: cannot set huge=advise: %s"
              .formatted(mountPoint, LibC.INSTANCE.strerror(Native.getLastError())));
    }
    return (int) result;
  }

  private static byte[] z(String text) {
    return (text + '\0').getBytes(StandardCharsets.UTF_8);
  }
}
