package dev.stasis.local.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;

/**
 * Runs the client for whoever posts its arguments, a line each. A shell can do that by itself, and
 * so a machine without kubectl needs no JVM for each command.
 */
public final class ClientDoor implements HttpHandler {

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;

  private final Requests requests;

  /**
   * @param server whom the client asks
   */
  public ClientDoor(String server) {
    this.requests = new Requests(server);
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      List<String> arguments = new String(body, StandardCharsets.UTF_8).lines().toList();
      boolean endless =
          arguments.contains("--watch") || arguments.contains("-w") || isFollowed(arguments);
      if (endless) {
        exchange.sendResponseHeaders(OK, 0);
        run(arguments, exchange.getResponseBody());
      } else {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        int code = run(arguments, output);
        byte[] all = output.toByteArray();
        exchange.sendResponseHeaders(
            code == 0 ? OK : BAD_REQUEST, all.length == 0 ? -1 : all.length);
        exchange.getResponseBody().write(all);
      }
    }
  }

  /** With apply the same letter names a file. */
  private static boolean isFollowed(List<String> arguments) {
    return arguments.contains("--follow")
        || arguments.indexOf("logs") == 0 && arguments.contains("-f");
  }

  private int run(List<String> arguments, OutputStream to) {
    PrintStream out = new PrintStream(to, true, StandardCharsets.UTF_8);
    PrintWriter words = new PrintWriter(out, true);
    return new CommandLine(new LocalClient(requests, out))
        .setOut(words)
        .setErr(words)
        .setExecutionExceptionHandler(
            (fault, line, parsed) -> {
              words.println("error: " + fault.getMessage());
              return 1;
            })
        .execute(arguments.toArray(String[]::new));
  }
}
