package dev.stasis.local.gate;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Refuses users other than root, because a client that can create pods here has root rights.
 * kubectl sends no token without TLS, but the kernel knows the owner of a local socket.
 */
final class RootOnly extends Filter {

  private static final int FORBIDDEN = 403;

  // Columns of the kernel's socket tables.
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int USER = 7;

  /** The second table has the sockets of programs that can use IPv6, such as Java. */
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));

  private static final byte[] REFUSAL =
      ("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":403,"
              + "\"reason\":\"Forbidden\",\"message\":\"user: expected root, because creating"
              + " pods here requires root, got another user\"}")
          .getBytes(StandardCharsets.UTF_8);

  @Override
  public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
    if (isRoot(exchange.getRemoteAddress(), exchange.getLocalAddress())) {
      chain.doFilter(exchange);
      return;
    }
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(FORBIDDEN, REFUSAL.length);
      exchange.getResponseBody().write(REFUSAL);
    }
  }

  @Override
  public String description() {
    return "refuses all users except root";
  }

  private static boolean isRoot(InetSocketAddress from, InetSocketAddress to) throws IOException {
    for (Path table : TABLES) {
      for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
        String[] fields = line.strip().split("\\s+");
        if (fields[LOCAL].endsWith(hex(from)) && fields[REMOTE].endsWith(hex(to))) {
          return fields[USER].equals("0");
        }
      }
    }
    return false;
  }

  /** Returns an address in the kernel's format: one number in the machine's byte order. */
  private static String hex(InetSocketAddress address) {
    int number =
        ByteBuffer.wrap(address.getAddress().getAddress()).order(ByteOrder.nativeOrder()).getInt();
    return "%08X:%04X".formatted(number, address.getPort());
  }
}
