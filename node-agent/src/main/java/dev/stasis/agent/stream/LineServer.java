package dev.stasis.agent.stream;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** Accepts connections with buffers. */
final class LineServer extends ServerSocket {
  LineServer() throws IOException {}

  @Override
  public Socket accept() throws IOException {
    Line line = new Line();
    implAccept(line);
    return line;
  }
}
