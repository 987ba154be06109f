package dev.stasis.agent.stream;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
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

/** The listening end, one per node: accepts only expected transfers from expected peers. */
public final class StreamReceiver implements AutoCloseable {

  /** A handshake and a hello take some milliseconds and a few round trips. */
  private static final int HELLO_MILLIS = 10_000;

  /** By then a connection must have named its transfer, even a slow one. */
  private static final Duration GREETING = Duration.ofSeconds(30);

  /** Number of connections that have not named their transfer yet. */
  static final int MOST_GREETING = 64;

  /** Connections that wait to be accepted: all streams of a few transfers at once. */
  private static final int BACKLOG = 128;

  private final ServerSocket server;
  private final SSLSocketFactory tls;
  private final Map<String, ReceiveSession> expected = new ConcurrentHashMap<>();
  private final Map<Socket, String> connections = new ConcurrentHashMap<>();
  private final Greetings greetings;

  /** The most recent finished transfers: a late connection receives the result. */
  private final Map<String, ReceiveSession> over =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, ReceiveSession> eldest) {
              return size() > BACKLOG;
            }
          });

  /**
   * Starts to listen.
   *
   * @param address the address; port 0 selects a free port
   */
  public StreamReceiver(AgentKey key, InetSocketAddress address) throws IOException {
    this(key, address, GREETING);
  }

  StreamReceiver(AgentKey key, InetSocketAddress address, Duration greeting) throws IOException {
    this.greetings = new Greetings(MOST_GREETING, greeting);
    this.tls = key.context(this::peers).getSocketFactory();
    this.server = new BufferedSocket.LineServer();
    try {
      server.bind(address, BACKLOG);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    start("stasis-stream-accept", this::accept);
  }

  /** Includes finished transfers: their peers get an answer instead of retrying. */
  private List<X509Certificate> peers() {
    List<X509Certificate> peers = new ArrayList<>();
    expected.values().forEach(one -> peers.add(one.peer()));
    synchronized (over) {
      over.values().forEach(one -> peers.add(one.peer()));
    }
    return peers;
  }

  public int port() {
    return server.getLocalPort();
  }

  /**
   * Expects a transfer.
   *
   * @param id the same at both ends
   * @param peerPem the sender's certificate
   * @param folder an existing private folder for the files
   * @param room maximum number of bytes
   * @param listener receives the blocks that have arrived
   * @throws IOException if a transfer of that id is already expected, or the certificate is invalid
   */
  public Expected expect(String id, String peerPem, Path folder, long room, BlockListener listener)
      throws IOException {
    X509Certificate peer = AgentKey.certificate(peerPem);
    ReceiveSession incoming = new ReceiveSession(peer, folder, room, listener);
    if (expected.putIfAbsent(id, incoming) != null) {
      throw new IOException("transfer " + id + " is already expected");
    }
    return new Expected(id, incoming);
  }

  /** A transfer that is expected until it is closed. */
  public final class Expected implements AutoCloseable {
    private final String id;
    private final ReceiveSession incoming;

    private Expected(String id, ReceiveSession incoming) {
      this.id = id;
      this.incoming = incoming;
    }

    /** Bytes that have arrived; a block received twice counts twice. */
    public long bytes() {
      return incoming.bytes();
    }

    /**
     * Waits until every file is complete.
     *
     * @return false if the time is over before
     * @throws IOException if the transfer failed, with the reason
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

    /** Accepts no more data; the content of the folder stays. */
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
          log("Cannot accept a stream", e);
        }
      }
    }
  }

  private void serve(Socket line) {
    try (line;
        Greetings.Greeting greeting = greetings.of(line);
        SSLSocket socket = (SSLSocket) tls.createSocket(line, null, true)) {
      StreamProtocol.secure(socket);
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
      String id = StreamProtocol.hello(in);
      ReceiveSession incoming = expected.get(id);
      X509Certificate peer = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      if (incoming == null || !incoming.isFrom(peer)) {
        ReceiveSession before = incoming == null ? over.get(id) : null;
        String nobody = "transfer " + id + ": not expected from this peer";
        StreamProtocol.sentence(
            out, before == null || !before.isFrom(peer) ? nobody : first(before, nobody));
        return;
      }
      greeting.close();
      connections.put(socket, id);
      if (expected.get(id) != incoming) {
        // The session was closed in between, without this connection.
        StreamProtocol.sentence(out, first(incoming, "transfer " + id + " was ended by this node"));
        return;
      }
      out.writeByte(StreamProtocol.DONE);
      out.flush();
      // The sender may be silent while criu writes; the end of the transfer closes the socket.
      socket.setSoTimeout(0);
      receive(incoming, in, out);
    } finally {
      connections.remove(socket);
    }
  }

  static void receive(ReceiveSession incoming, DataInputStream in, DataOutputStream out)
      throws IOException {
    byte[] piece = new byte[StreamProtocol.PIECE];
    for (byte frame = in.readByte(); frame != StreamProtocol.END; frame = in.readByte()) {
      String failure;
      try {
        failure = frame(frame, incoming, in, out, piece);
      } catch (RuntimeException e) {
        // An exception of ours, caused by the peer's data: the transfer fails with a message.
        failure = "stream: " + e;
      }
      if (failure != null) {
        incoming.whole().completeExceptionally(new IOException(failure));
        StreamProtocol.sentence(out, first(incoming, failure));
        return;
      }
    }
  }

  private static @Nullable String frame(
      byte frame, ReceiveSession incoming, DataInputStream in, DataOutputStream out, byte[] piece)
      throws IOException {
    if (frame == StreamProtocol.BLOCK) {
      return block(incoming, in, out, piece);
    }
    if (frame != StreamProtocol.FILES) {
      return "stream: expected a block, a list or the end, got " + frame;
    }
    String failure = finish(incoming, in);
    if (failure == null) {
      out.writeByte(StreamProtocol.DONE);
      out.flush();
      incoming.whole().complete(null);
    }
    return failure;
  }

  // Other connections of a failed transfer only report that its files are closed.
  private static String first(ReceiveSession incoming, String failure) {
    return incoming
        .whole()
        .handle((whole, first) -> first == null ? failure : String.valueOf(first.getMessage()))
        .getNow(failure);
  }

  private static @Nullable String finish(ReceiveSession incoming, DataInputStream in)
      throws IOException {
    var sizes = StreamProtocol.files(in);
    try {
      incoming.finish(sizes);
      return null;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static @Nullable String block(
      ReceiveSession incoming, DataInputStream in, DataOutputStream out, byte[] piece)
      throws IOException {
    long number = in.readLong();
    String name = in.readUTF();
    long offset = in.readLong();
    int length = in.readInt();
    if (length < 1 || length > SendQueue.BLOCK) {
      return "block: expected 1 to %d bytes, got %d".formatted(SendQueue.BLOCK, length);
    }
    CRC32C found = new CRC32C();
    String where = "block of %s at %d: ".formatted(name, offset);
    ReceiveSession.IncomingFile.Place place;
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
      // The partial data is useless, so this ends the transfer.
      return where + "expected the checksum %08x, got %08x".formatted(crc, (int) found.getValue());
    }
    incoming.arrived(name, offset, length);
    out.writeByte(StreamProtocol.ACKNOWLEDGED);
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
    System.getLogger(StreamReceiver.class.getName()).log(Level.INFO, what + ": " + e);
  }
}
