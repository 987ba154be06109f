package dev.stasis.local.gate;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Refuses everybody but root: whoever can make pods here is root. */
final class RootOnly extends Filter {

  private static final int FORBIDDEN = 403;

  private static final byte[] REFUSAL =
      ("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":403,"
              + "\"reason\":\"Forbidden\",\"message\":\"user: wanted root, since whoever can make"
              + " pods here is root; found another\"}")
          .getBytes(StandardCharsets.UTF_8);

  @Override
  public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
    if (new Peer(exchange.getRemoteAddress(), exchange.getLocalAddress()).isRoot()) {
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
    return "refuses everybody but root";
  }
}
