package dev.stasis.agent.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads what the kernel says about sockets. A process that is gone is an empty result. */
public final class Sockets {

  /** Tables of the sockets that criu binds again at a restore. */
  private static final List<String> TABLES =
      List.of("tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6");

  private final ProcFs proc;

  public Sockets(ProcFs proc) {
    this.proc = proc;
  }

  /** The bound and connected sockets in the network namespace of a process. */
  public List<InetSocket> inet(int pid) {
    List<InetSocket> sockets = new ArrayList<>();
    for (String table : TABLES) {
      try (var lines = Files.lines(proc.folder(pid).resolve("net").resolve(table))) {
        lines.skip(1).forEach(line -> sockets.add(InetSocket.parse(table, line)));
      } catch (IOException e) {
        // A kernel without IPv6 has not all of them.
        if (!ProcFs.isGone(e)) {
          throw new UncheckedIOException(e);
        }
      } catch (UncheckedIOException e) {
        if (e.getCause() == null || !ProcFs.isGone(e.getCause())) {
          throw e;
        }
      }
    }
    return sockets;
  }

  /** The protocol of a socket as the kernel calls it: TCP, UDPv6, UNIX, MPTCP, AF_VSOCK, ... */
  public Optional<String> protocol(int pid, int fd) {
    byte[] name = new byte[64];
    String path = proc.folder(pid).resolve("fd").resolve("" + fd).toString();
    long length = LibC.INSTANCE.getxattr(path, "system.sockprotoname", name, name.length);
    return length <= 0
        ? Optional.empty()
        : Optional.of(
            new String(name, 0, (int) length, StandardCharsets.US_ASCII).replace("\0", ""));
  }
}
