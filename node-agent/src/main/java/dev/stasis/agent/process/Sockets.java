package dev.stasis.agent.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads socket tables of the kernel. For a process that is gone the result is empty. */
public final class Sockets {

  /** Tables of the sockets that criu binds again during a restore. */
  private static final List<String> TABLES =
      List.of("tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6");

  /** All processes of a pod together have a few thousand at most. */
  private static final int MOST_SOCKETS = 100_000;

  private final ProcFs proc;

  public Sockets(ProcFs proc) {
    this.proc = proc;
  }

  /** Returns the bound and connected sockets in the network namespace of a process. */
  public List<InetSocket> inet(int pid) {
    List<InetSocket> sockets = new ArrayList<>();
    for (String table : TABLES) {
      // A kernel without IPv6 lacks some of them.
      Path file = proc.folder(pid).resolve("net").resolve(table);
      sockets.addAll(
          proc.files()
              .lines(
                  file, 1, MOST_SOCKETS - sockets.size(), line -> InetSocket.parse(table, line)));
    }
    return sockets;
  }

  /**
   * Returns the connected Unix sockets in the network namespace of a process.
   *
   * @param runtime the program stasis-runtime
   * @throws IOException if they cannot be read, with the reason
   */
  public List<UnixConnection> connected(Path runtime, ProcessId process)
      throws IOException, InterruptedException {
    List<long[]> sockets = new ArrayList<>();
    Set<Long> named = new HashSet<>();
    for (String line : new RuntimeQuestion(runtime, "connections", MOST_SOCKETS).ask(process)) {
      long[] fields = Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
      if (fields[1] != 0) {
        sockets.add(fields);
      }
      if (fields[3] != 0) {
        named.add(fields[0]);
      }
    }
    return sockets.stream()
        .map(one -> new UnixConnection(one[0], one[1], (int) one[2], named.contains(one[1])))
        .toList();
  }

  /**
   * Returns the netlink sockets in the network namespace of a process with messages to read, by
   * inode.
   */
  public Set<Long> unreadNetlink(int pid) {
    Set<Long> unread = new HashSet<>();
    // sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode
    proc.files()
        .eachLine(
            proc.folder(pid).resolve("net/netlink"),
            LimitedReader.MOST_LINE_BYTES,
            MOST_SOCKETS,
            line -> {
              String[] fields = line.trim().split("\\s+");
              if (fields.length > 9 && !fields[0].equals("sk") && !fields[4].equals("0")) {
                unread.add(Long.parseLong(fields[9]));
              }
              return unread.size() <= MOST_SOCKETS;
            });
    return unread;
  }

  /** Returns the kernel's name of a socket's protocol: TCP, UDPv6, UNIX, MPTCP, AF_VSOCK, ... */
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
