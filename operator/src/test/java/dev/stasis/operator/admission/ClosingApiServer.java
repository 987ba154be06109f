package dev.stasis.operator.admission;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Answers each connection's first request, keeps it open, and closes it at the second one. */
final class ClosingApiServer implements AutoCloseable {

  /** A loaded machine has taken seconds for a client's first request. */
  private static final int PATIENCE_MILLISECONDS = 60_000;

  private static final String NO_PODS =
      "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}";

  private final ServerSocket server;

  private ClosingApiServer(ServerSocket server) {
    this.server = server;
  }

  static ClosingApiServer open() throws IOException {
    ClosingApiServer opened =
        new ClosingApiServer(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()));
    Thread thread = new Thread(opened::serve, "closing-api-server");
    thread.setDaemon(true);
    thread.start();
    return opened;
  }

  Config config() {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + server.getLocalPort())
        .withRequestTimeout(PATIENCE_MILLISECONDS)
        .withConnectionTimeout(PATIENCE_MILLISECONDS)
        .build();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket connection = server.accept();
          BufferedReader requests =
              new BufferedReader(
                  new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
        if (isAsked(requests)) {
          connection.getOutputStream().write(answer());
          isAsked(requests);
        }
      } catch (IOException e) {
        if (!server.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** Reads one request; none has a body. */
  private static boolean isAsked(BufferedReader requests) throws IOException {
    @Nullable String line = requests.readLine();
    while (line != null && !line.isEmpty()) {
      line = requests.readLine();
    }
    return line != null;
  }

  private static byte[] answer() {
    return """
    HTTP/1.1 200 OK\r
    Content-Type: application/json\r
    Content-Length: %d\r
    \r
    %s"""
        .formatted(NO_PODS.length(), NO_PODS)
        .getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
