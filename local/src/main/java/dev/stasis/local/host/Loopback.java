package dev.stasis.local.host;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Brings up the loopback of a network namespace by system calls alone, because a machine may lack
 * iproute2. criu tests TCP over it before each dump and fails if it is down ("Unable to connect a
 * socket: Network is unreachable").
 */
public final class Loopback {

  /** From the C library; each has its own manual page. */
  interface Calls extends Library {
    int open(String path, int flags) throws LastErrorException;

    int close(int fd) throws LastErrorException;

    int setns(int fd, int type) throws LastErrorException;

    int socket(int domain, int type, int protocol) throws LastErrorException;

    int ioctl(int fd, NativeLong request, Memory argument) throws LastErrorException;
  }

  // Linux values on x86-64 and arm64.
  private static final int O_CLOEXEC = 02000000;
  private static final int CLONE_NEWNET = 0x40000000;
  private static final int AF_INET = 2;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | O_CLOEXEC;
  private static final NativeLong SIOCGIFFLAGS = new NativeLong(0x8913);
  private static final NativeLong SIOCSIFFLAGS = new NativeLong(0x8914);
  private static final short IFF_UP = 1;

  /** struct ifreq: 16 bytes of name, then a union. */
  private static final int IFREQ_BYTES = 40;

  private static final int IFREQ_FLAGS = 16;

  /**
   * Brings it up; has no effect if it is up.
   *
   * @param namespace file of the network namespace, as below /proc/PID/ns
   */
  public void up(Path namespace) throws IOException {
    AtomicReference<LastErrorException> failed = new AtomicReference<>();
    // A separate thread that ends there, so that no thread can return to our namespace by mistake.
    Thread thread =
        new Thread(
            () -> {
              try {
                inside(Native.load("c", Calls.class), namespace);
              } catch (LastErrorException e) {
                failed.set(e);
              }
            },
            "loopback");
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the loopback of " + namespace + " came up", e);
    }
    if (failed.get() != null) {
      throw new IOException("the loopback of " + namespace + " did not come up", failed.get());
    }
  }

  private static void inside(Calls calls, Path namespace) {
    int net = calls.open(namespace.toString(), O_CLOEXEC);
    try {
      calls.setns(net, CLONE_NEWNET);
    } finally {
      calls.close(net);
    }
    int socket = calls.socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0);
    try (Memory request = new Memory(IFREQ_BYTES)) {
      request.clear();
      request.write(0, "lo".getBytes(StandardCharsets.US_ASCII), 0, 2);
      calls.ioctl(socket, SIOCGIFFLAGS, request);
      request.setShort(IFREQ_FLAGS, (short) (request.getShort(IFREQ_FLAGS) | IFF_UP));
      calls.ioctl(socket, SIOCSIFFLAGS, request);
    } finally {
      calls.close(socket);
    }
  }
}
