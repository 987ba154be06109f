package dev.stasis.agent.stream;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32C;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The end that listens, one a node. It takes streams of expected transfers from expected peers and
 * nothing else.
 */
public final class StreamReceiver implements AutoCloseable {

  /** A handshake and a hello are some milliseconds of work and a few round trips. */
  private static final int HELLO_MILLIS = 10_000;

  /** By then a connection has named its transfer, even if it sends a byte every few seconds. */
  private static final Duration GREETING = Duration.ofSeconds(30);

  /** Of connections that have not said yet for which transfer they are. */
  static final int MOST_GREETING = 64;

  /** Connections that wait to be accepted: all streams of some transfers at once. */
  private static final int BACKLOG = 128;

  private final ServerSocket server;
  private final SSLSocketFactory tls;
  private final Map<String, Incoming> expected = new ConcurrentHashMap<>();
  private final Map<Socket, String> connections = new ConcurrentHashMap<>();
  private final Greetings greetings;

  /** The last that are over: a connection that comes too late hears why. */
  private final Map<String, Incoming> over =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Incoming> eldest) {
              return size() > BACKLOG;
            }
          });

  /**
   * Listens from now on.
   *
   * @param address where; port 0 takes a free one
   */
  public StreamReceiver(AgentKey key, InetSocketAddress address) throws IOException {
    this(key, address, GREETING);
  }

  StreamReceiver(AgentKey key, InetSocketAddress address, Duration greeting) throws IOException {
    this.greetings = new Greetings(MOST_GREETING, greeting);
    this.tls = key.context(this::peers).getSocketFactory();
    this.server = new LineServer();
    try {
      server.bind(address, BACKLOG);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    start("stasis-stream-accept", this::accept);
  }

  /** Those of transfers that are over too: they are told so, instead of trying on. */
  private List<X509Certificate> peers() {
    List<X509Certificate> peers = new ArrayList<>();
    expected.values().forEach(one -> peers.add(one.peer()));
    synchronized (over) {
      over.values().forEach(one -> peers.add(one.peer()));
    }
    return peers;
  }

  /** Where it listens. */
  public int port() {
    return server.getLocalPort();
  }

  /**
   * Expects a transfer.
   *
   * @param id the same at both ends
   * @param peerPem the sender's certificate
   * @param folder takes the files; private, and there already
   * @param room bytes that it may take
   * @throws IOException when a transfer of that id is expected already, or that is no certificate
   */
  public Expected expect(String id, String peerPem, Path folder, long room) throws IOException {
    Incoming incoming = new Incoming(AgentKey.certificate(peerPem), folder, room);
    if (expected.putIfAbsent(id, incoming) != null) {
      throw new IOException(
          "transfer " + id + ": wanted one that is not expected yet, found it is");
    }
    return new Expected(id, incoming);
  }

  /** A transfer that is expected until it is closed. */
  public final class Expected implements AutoCloseable {
    private final String id;
    private final Incoming incoming;

    private Expected(String id, Incoming incoming) {
      this.id = id;
      this.incoming = incoming;
    }

    /** Bytes that have arrived; a block that came twice counts twice. */
    public long bytes() {
      return incoming.bytes();
    }

    /**
     * Waits until every file is whole.
     *
     * @return false when it is not by then
     * @throws IOException when it failed, with the reason
     */
    public boolean await(Duration atMost) throws IOException, InterruptedException {
      try {
        incoming.whole().get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        return true;
      } catch (TimeoutException e) {
        return false;
      } catch (ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        throw new IOException(String.valueOf(cause.getMessage()), cause);
      }
    }

    /** Takes no more of it; what lies in the folder stays there. */
    @Override
    public void close() throws IOException {
      over.put(id, incoming);
      expected.remove(id, incoming);
      incoming.close();
      for (var connection : connections.entrySet()) {
        if (connection.getValue().equals(id)) {
          connection.getKey().close();
        }
      }
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket line = server.accept();
        greetings.began(line);
        start("stasis-stream-receive", () -> serve(line));
      } catch (IOException e) {
        if (!server.isClosed()) {
          log("a stream could not be accepted", e);
        }
      }
    }
  }

  private void serve(Socket line) {
    try (line;
        Greetings.Greeting greeting = greetings.of(line);
        SSLSocket socket = (SSLSocket) tls.createSocket(line, null, true)) {
      socket.setEnabledProtocols(new String[] {"TLSv1.3"});
      socket.setUseClientMode(false);
      socket.setNeedClientAuth(true);
      line.setSoTimeout(HELLO_MILLIS);
      line.setKeepAlive(true);
      line.setTcpNoDelay(true);
      socket.startHandshake();
      serve(socket, greeting);
    } catch (IOException e) {
      log("a stream ended", e);
    }
  }

  private void serve(SSLSocket socket, Greetings.Greeting greeting) throws IOException {
    try {
      DataInputStream in =
          new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 12));
      String id = Wire.hello(in);
      Incoming incoming = expected.get(id);
      X509Certificate peer = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      if (incoming == null || !incoming.isFrom(peer)) {
        Incoming before = incoming == null ? over.get(id) : null;
        String nobody = "transfer " + id + ": nobody expects it from this peer";
        Wire.sentence(out, before == null || !before.isFrom(peer) ? nobody : first(before, nobody));
        return;
      }
      greeting.close();
      connections.put(socket, id);
      if (expected.get(id) != incoming) {
        // It was closed in between: its end has not seen this connection, so nobody else ends it.
        Wire.sentence(out, first(incoming, "transfer " + id + ": it was ended at this end"));
        return;
      }
      out.writeByte(Wire.DONE);
      out.flush();
      // From here on the sender may have nothing to say for as long as criu writes; the end of the
      // transfer closes the socket.
      socket.setSoTimeout(0);
      receive(incoming, in, out);
    } finally {
      connections.remove(socket);
    }
  }

  static void receive(Incoming incoming, DataInputStream in, DataOutputStream out)
      throws IOException {
    byte[] piece = new byte[Wire.PIECE];
    for (byte frame = in.readByte(); frame != Wire.END; frame = in.readByte()) {
      String failure;
      try {
        failure = frame(frame, incoming, in, out, piece);
      } catch (RuntimeException e) {
        // Of ours, but caused by what the peer sent: the transfer ends by name, not in silence.
        failure = "stream: " + e;
      }
      if (failure != null) {
        incoming.whole().completeExceptionally(new IOException(failure));
        Wire.sentence(out, first(incoming, failure));
        return;
      }
    }
  }

  private static @Nullable String frame(
      byte frame, Incoming incoming, DataInputStream in, DataOutputStream out, byte[] piece)
      throws IOException {
    if (frame == Wire.BLOCK) {
      return block(incoming, in, out, piece);
    }
    if (frame != Wire.FILES) {
      return "stream: expected a block, a list or the end, got " + frame;
    }
    String failure = finish(incoming, in);
    if (failure == null) {
      out.writeByte(Wire.DONE);
      out.flush();
      incoming.whole().complete(null);
    }
    return failure;
  }

  /** What ended the transfer: the other connections then only find its files closed. */
  private static String first(Incoming incoming, String failure) {
    return incoming
        .whole()
        .handle((whole, first) -> first == null ? failure : String.valueOf(first.getMessage()))
        .getNow(failure);
  }

  private static @Nullable String finish(Incoming incoming, DataInputStream in) throws IOException {
    var sizes = Wire.files(in);
    try {
      incoming.finish(sizes);
      return null;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static @Nullable String block(
      Incoming incoming, DataInputStream in, DataOutputStream out, byte[] piece)
      throws IOException {
    long number = in.readLong();
    String name = in.readUTF();
    long offset = in.readLong();
    int length = in.readInt();
    if (length < 1 || length > Outbound.BLOCK) {
      return "block: wanted 1 to %d bytes, found %d".formatted(Outbound.BLOCK, length);
    }
    CRC32C found = new CRC32C();
    String where = "block of %s at %d: ".formatted(name, offset);
    IncomingFile.Place place;
    try {
      place = incoming.place(name, offset, length);
    } catch (IOException e) {
      return where + e.getMessage();
    }
    try (place) {
      for (int at = 0; at < length; at += piece.length) {
        int some = Math.min(piece.length, length - at);
        in.readFully(piece, 0, some);
        found.update(piece, 0, some);
        try {
          place.write(piece, some);
        } catch (IOException e) {
          return where + e.getMessage();
        }
        incoming.wrote(some);
      }
    }
    int crc = in.readInt();
    if ((int) found.getValue() != crc) {
      // What was written of it is of no use to anybody: this ends the transfer.
      return where + "wanted the checksum %08x, found %08x".formatted(crc, (int) found.getValue());
    }
    out.writeByte(Wire.ACKNOWLEDGED);
    out.writeLong(number);
    out.flush();
    return null;
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (var entry : Set.copyOf(expected.entrySet())) {
      expected.remove(entry.getKey());
      entry.getValue().close();
    }
    for (Socket socket : Set.copyOf(connections.keySet())) {
      socket.close();
    }
    greetings.close();
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void log(String what, IOException e) {
    System.getLogger(StreamReceiver.class.getName()).log(System.Logger.Level.INFO, what + ": " + e);
  }
}
