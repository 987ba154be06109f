package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Checks whether a process with all capabilities, such as criu, can create an io_uring on this
 * machine.
 */
public final class IoUringSupport {

  private static final int ENOSYS = 38;
  private static final int EPERM = 1;

  private final Path setting;

  public IoUringSupport(Path proc) {
    this.setting = proc.resolve("sys/kernel/io_uring_disabled");
  }

  /**
   * Reads the sysctl; if the kernel has none (before 6.6, or built without it), tries the system
   * call.
   */
  public boolean exists() {
    if (!Files.exists(setting)) {
      return answers();
    }
    try {
      // 1 excludes only processes without CAP_SYS_ADMIN.
      return !Files.readString(setting).trim().equals("2");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + setting, e);
    }
  }

  /** A call without parameters creates no ring. */
  private static boolean answers() {
    LibC.INSTANCE.syscall(LibC.SYS_IO_URING_SETUP, 0L, 0L);
    int error = Native.getLastError();
    return error != ENOSYS && error != EPERM;
  }
}
