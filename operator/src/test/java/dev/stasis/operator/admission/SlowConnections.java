package dev.stasis.operator.admission;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Connections that begin something and never complete it. */
final class SlowConnections implements AutoCloseable {

  /** A loaded machine has taken seconds for a handshake. */
  private static final int PATIENCE_MILLISECONDS = 60_000;

  enum Until {
    BEFORE_THE_HANDSHAKE,
    IN_THE_HEAD,
    IN_THE_BODY
  }

  private final int port;
  private final SSLContext context;
  private final List<Socket> open = new ArrayList<>();

  SlowConnections(int port, SSLContext context) {
    this.port = port;
    this.context = context;
  }

  void open(int number, Until until) throws IOException {
    open(number, until, "/evict");
  }

  void open(int number, Until until, String path) throws IOException {
    for (int time = 0; time < number; time++) {
      open(until, path);
    }
  }

  private void open(Until until, String path) throws IOException {
    Socket socket =
        until == Until.BEFORE_THE_HANDSHAKE
            ? new Socket()
            : (SSLSocket) context.getSocketFactory().createSocket();
    open.add(socket);
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLISECONDS);
    socket.setSoTimeout(PATIENCE_MILLISECONDS);
    String begun =
        switch (until) {
          case BEFORE_THE_HANDSHAKE -> "\u0016";
          case IN_THE_HEAD -> "P";
          case IN_THE_BODY ->
              "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
        };
    socket.getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  @Override
  public void close() throws IOException {
    for (Socket socket : open) {
      socket.close();
    }
  }
}
