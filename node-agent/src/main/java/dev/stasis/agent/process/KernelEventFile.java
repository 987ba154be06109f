package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A small kernel file that signals its changes, such as {@code cgroup.events}. Reading it arms the
 * notification, so no change between a read and the following wait is missed.
 */
public final class KernelEventFile implements AutoCloseable {

  private static final int O_RDONLY_CLOEXEC = 0x80000;
  private static final short POLLPRI = 2;
  private static final int EINTR = 4;

  private final LibC libc = LibC.INSTANCE;
  private final Path file;
  private final int fd;

  public KernelEventFile(Path file) throws IOException {
    this.file = file;
    this.fd = libc.open(file.toString(), O_RDONLY_CLOEXEC);
    if (fd < 0) {
      throw new IOException("opening " + file + ": errno " + Native.getLastError());
    }
  }

  public String read() throws IOException {
    byte[] buffer = new byte[4096];
    long size = libc.pread(fd, buffer, buffer.length, 0);
    if (size < 0) {
      throw new IOException("reading " + file + ": errno " + Native.getLastError());
    }
    return new String(buffer, 0, (int) size, StandardCharsets.UTF_8);
  }

  /**
   * Waits for a change since the last read.
   *
   * @return false if none occurred in that time
   */
  public boolean awaitChange(Duration atMost) throws IOException {
    LibC.PollFd descriptor = new LibC.PollFd();
    descriptor.fd = fd;
    descriptor.events = POLLPRI;
    int ready = libc.poll(descriptor, 1, (int) Math.max(0, atMost.toMillis()));
    if (ready < 0 && Native.getLastError() != EINTR) {
      throw new IOException("waiting for " + file + ": errno " + Native.getLastError());
    }
    return ready > 0;
  }

  @Override
  public void close() {
    libc.close(fd);
  }
}
