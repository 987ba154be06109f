package dev.stasis.agent.stream;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** The connecting end: several streams that share one {@link SendQueue}. */
public final class StreamSender {

  /** Within one data center, a connection that takes longer will not be established. */
  private static final int CONNECT_MILLIS = 5_000;

  /** A peer that acknowledges nothing or does not answer a hello for this long is gone or stuck. */
  static final int ANSWER_MILLIS = 30_000;

  /** Time between two attempts of a broken stream: an unstable link recovers within seconds. */
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final SSLContext context;
  private final InetSocketAddress peer;
  private final String transfer;
  private final SendQueue outbound;
  private final Options options;
  private final LongSupplier nanoTime;
  private final RateLimit limit;
  private final AtomicInteger reconnects = new AtomicInteger();
  private final AtomicLong lastAnswer;
  private final CountDownLatch connected;

  /**
   * Settings of a transfer.
   *
   * @param streams number of parallel connections
   * @param bytesPerSecond limit of all streams together; 0 for none
   * @param patience how long the peer may be unreachable before the transfer fails
   * @param silence how long the peer may leave blocks unanswered: a connection to a peer that
   *     disappeared looks like a slow one
   */
  public record Options(int streams, long bytesPerSecond, Duration patience, Duration silence) {}

  /**
   * @param transfer the id that the receiver expects
   * @param peerPem the receiver's certificate
   * @throws IOException if the certificate is invalid
   */
  public StreamSender(
      AgentKey key,
      InetSocketAddress peer,
      String peerPem,
      String transfer,
      SendQueue outbound,
      Options options,
      LongSupplier nanoTime)
      throws IOException {
    var pinned = List.of(AgentKey.certificate(peerPem));
    this.context = key.context(() -> pinned);
    this.peer = peer;
    this.transfer = transfer;
    this.outbound = outbound;
    this.options = options;
    this.connected = new CountDownLatch(options.streams());
    this.nanoTime = nanoTime;
    this.limit = new RateLimit(options.bytesPerSecond(), nanoTime);
    this.lastAnswer = new AtomicLong(nanoTime.getAsLong());
  }

  /**
   * Waits until every stream has connected once.
   *
   * @return false if the time is over before
   */
  public boolean awaitConnected(Duration atMost) throws InterruptedException {
    return connected.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The number of reconnections of all streams. */
  public int reconnects() {
    return reconnects.get();
  }

  /**
   * Sends everything, until the receiver has confirmed that it is complete. {@link SendQueue#fail}
   * ends it from another thread.
   *
   * @throws IOException with the reason in one sentence; the receiver may have a part
   */
  public void run() throws IOException, InterruptedException {
    lastAnswer.set(nanoTime.getAsLong());
    List<Thread> streams = new ArrayList<>();
    for (int i = 0; i < options.streams(); i++) {
      Thread thread = new Thread(this::stream, "stasis-stream-send-" + i);
      thread.setDaemon(true);
      thread.start();
      streams.add(thread);
    }
    try {
      while (!outbound.awaitAll(Duration.ofSeconds(1))) {
        // The wait only checks whether all streams have failed, which fail() reports.
      }
      finish();
    } catch (InterruptedException e) {
      outbound.fail("transfer " + transfer + ": interrupted");
      throw e;
    } finally {
      for (Thread thread : streams) {
        thread.interrupt();
        thread.join(ANSWER_MILLIS);
      }
    }
  }

  private void stream() {
    long brokenSince = nanoTime.getAsLong();
    boolean first = true;
    try {
      while (true) {
        try (Stream stream = open()) {
          if (!first) {
            reconnects.incrementAndGet();
          }
          first = false;
          connected.countDown();
          try {
            stream.sendAll();
            return;
          } finally {
            brokenSince = nanoTime.getAsLong();
          }
        } catch (IOException e) {
          giveUpAfterPatience(brokenSince, e);
          outbound.pause(PAUSE);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // Waiting threads already get the failure from the queue.
      System.getLogger(StreamSender.class.getName()).log(Level.DEBUG, "stream to " + peer, e);
    }
  }

  private void giveUpAfterPatience(long brokenSince, IOException e) {
    long since = Math.max(brokenSince, lastAnswer.get());
    if (nanoTime.getAsLong() - since > options.patience().toNanos()) {
      outbound.fail(
          "peer %s: expected an answer within %d s, got none; the last error: %s"
              .formatted(peer, options.patience().toSeconds(), e.getMessage()));
    }
  }

  private void finish() throws IOException, InterruptedException {
    long since = nanoTime.getAsLong();
    while (true) {
      try (SSLSocket socket = connect(new BufferedSocket())) {
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        DataInputStream in = new DataInputStream(socket.getInputStream());
        greet(in, out);
        // The sizes of any number of files are set now.
        socket.setSoTimeout((int) options.patience().toMillis());
        StreamProtocol.files(out, outbound.sizes());
        byte answer = in.readByte();
        if (answer == StreamProtocol.FAILED) {
          outbound.fail(in.readUTF());
        }
        outbound.awaitAll(Duration.ZERO);
        out.writeByte(StreamProtocol.END);
        out.flush();
        return;
      } catch (IOException e) {
        // Throws if the transfer has failed permanently.
        outbound.awaitAll(Duration.ZERO);
        giveUpAfterPatience(since, e);
        outbound.awaitAll(Duration.ZERO);
        reconnects.incrementAndGet();
        outbound.pause(PAUSE);
      }
    }
  }

  private Stream open() throws IOException {
    BufferedSocket line = new BufferedSocket();
    SSLSocket socket = connect(line);
    try {
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16));
      DataInputStream in = new DataInputStream(socket.getInputStream());
      greet(in, out);
      lastAnswer.set(nanoTime.getAsLong());
      return new Stream(
          socket,
          line,
          in,
          out,
          outbound,
          limit,
          options.silence(),
          () -> lastAnswer.set(nanoTime.getAsLong()));
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private SSLSocket connect(BufferedSocket line) throws IOException {
    try {
      line.connect(peer, CONNECT_MILLIS);
      line.setSoTimeout(ANSWER_MILLIS);
      line.setKeepAlive(true);
      line.setTcpNoDelay(true);
      SSLSocket socket =
          (SSLSocket)
              context
                  .getSocketFactory()
                  .createSocket(line, peer.getHostString(), peer.getPort(), true);
      StreamProtocol.secure(socket);
      socket.startHandshake();
      return socket;
    } catch (IOException e) {
      line.close();
      throw e;
    }
  }

  private void greet(DataInputStream in, DataOutputStream out) throws IOException {
    StreamProtocol.hello(out, transfer);
    byte answer = in.readByte();
    if (answer == StreamProtocol.FAILED) {
      String sentence = in.readUTF();
      outbound.fail("peer " + peer + " refused: " + sentence);
      throw new IOException(sentence);
    }
    if (answer != StreamProtocol.DONE) {
      throw new IOException("peer " + peer + ": expected an answer to the greeting, got " + answer);
    }
  }

  /** Limits the rate of all streams together, block by block. */
  static final class RateLimit {

    private final long bytesPerSecond;
    private final LongSupplier nanoTime;
    private long free;

    /**
     * @param bytesPerSecond 0: no limit
     */
    RateLimit(long bytesPerSecond, LongSupplier nanoTime) {
      this.bytesPerSecond = bytesPerSecond;
      this.nanoTime = nanoTime;
      this.free = nanoTime.getAsLong();
    }

    /** Reserves that many bytes, and returns the nanoseconds until they may be sent. */
    synchronized long book(int bytes) {
      if (bytesPerSecond == 0) {
        return 0;
      }
      long now = nanoTime.getAsLong();
      long start = Math.max(free, now);
      free = start + (long) (bytes * 1e9 / bytesPerSecond);
      return start - now;
    }

    void pass(int bytes) throws InterruptedException {
      long until = nanoTime.getAsLong() + book(bytes);
      for (long left = until - nanoTime.getAsLong();
          left > 0;
          left = until - nanoTime.getAsLong()) {
        LockSupport.parkNanos(this, left);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    }
  }
}
