package dev.stasis.local.gate;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The other end of a connection within this machine. kubectl cannot send a token without TLS, but
 * the kernel knows whose its socket is.
 *
 * @param from the other end's address
 * @param to ours
 */
record Peer(InetSocketAddress from, InetSocketAddress to) {

  // The columns of the kernel's tables.
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int USER = 7;

  /** The second one has the sockets of programs that, as Java does, can speak IPv6 too. */
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));

  /** Whether a process of root's has opened the connection. */
  boolean isRoot() throws IOException {
    for (Path table : TABLES) {
      for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
        String[] fields = line.strip().split("\\s+");
        if (fields[LOCAL].endsWith(written(from)) && fields[REMOTE].endsWith(written(to))) {
          return fields[USER].equals("0");
        }
      }
    }
    return false;
  }

  /** As the kernel writes it: the address as one number in the machine's own order. */
  private static String written(InetSocketAddress address) {
    int number =
        ByteBuffer.wrap(address.getAddress().getAddress()).order(ByteOrder.nativeOrder()).getInt();
    return "%08X:%04X".formatted(number, address.getPort());
  }
}
