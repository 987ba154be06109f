package dev.stasis.agent.stream;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** The end that connects: several streams that share one {@link Outbound}. */
public final class StreamSender {

  /** Within one data centre a connection that takes longer will not come. */
  private static final int CONNECT_MILLIS = 5_000;

  /** A peer that acknowledges nothing for so long, or answers no hello, is gone or stuck. */
  static final int ANSWER_MILLIS = 30_000;

  /** Two tries of a broken stream are so far apart: a link that flaps is back within seconds. */
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final SSLContext context;
  private final InetSocketAddress peer;
  private final String transfer;
  private final Outbound outbound;
  private final Options options;
  private final LongSupplier nanoTime;
  private final RateLimit limit;
  private final AtomicInteger reconnects = new AtomicInteger();
  private final AtomicLong lastAnswer;
  private final CountDownLatch connected;

  /**
   * How to send.
   *
   * @param streams connections at a time
   * @param bytesPerSecond limit of all streams together; 0: none
   * @param patience how long the peer may be out of reach before all of it fails
   * @param silence how long it may leave blocks without an answer: a connection whose other end is
   *     gone without a word looks like one that is slow
   */
  public record Options(int streams, long bytesPerSecond, Duration patience, Duration silence) {}

  /**
   * @param transfer the id that the receiver expects
   * @param peerPem the receiver's certificate
   * @throws IOException when that is no certificate
   */
  public StreamSender(
      AgentKey key,
      InetSocketAddress peer,
      String peerPem,
      String transfer,
      Outbound outbound,
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
   * Waits until every stream has been connected once.
   *
   * @return false when one has not by then
   */
  public boolean awaitConnected(Duration atMost) throws InterruptedException {
    return connected.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** How often a stream was taken up again. */
  public int reconnects() {
    return reconnects.get();
  }

  /**
   * Sends everything, until the receiver has said that all of it is there. {@link Outbound#fail}
   * ends it from outside.
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
        // Only woken to see whether everybody gave up, which fail() tells.
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
      // Told to whoever waits already: the outbound has failed.
      System.getLogger(StreamSender.class.getName())
          .log(System.Logger.Level.DEBUG, "stream to " + peer, e);
    }
  }

  private void giveUpAfterPatience(long brokenSince, IOException e) {
    long since = Math.max(brokenSince, lastAnswer.get());
    if (nanoTime.getAsLong() - since > options.patience().toNanos()) {
      outbound.fail(
          "peer %s: wanted an answer within %d s, found none; the last error: %s"
              .formatted(peer, options.patience().toSeconds(), e.getMessage()));
    }
  }

  private void finish() throws IOException, InterruptedException {
    long since = nanoTime.getAsLong();
    while (true) {
      try (SSLSocket socket = connect(new Line())) {
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        DataInputStream in = new DataInputStream(socket.getInputStream());
        greet(in, out);
        // Files of any number get their sizes now.
        socket.setSoTimeout((int) options.patience().toMillis());
        Wire.files(out, outbound.sizes());
        byte answer = in.readByte();
        if (answer == Wire.FAILED) {
          outbound.fail(in.readUTF());
        }
        outbound.awaitAll(Duration.ZERO);
        out.writeByte(Wire.END);
        out.flush();
        return;
      } catch (IOException e) {
        // Throws when it has failed for good.
        outbound.awaitAll(Duration.ZERO);
        giveUpAfterPatience(since, e);
        outbound.awaitAll(Duration.ZERO);
        reconnects.incrementAndGet();
        outbound.pause(PAUSE);
      }
    }
  }

  private Stream open() throws IOException {
    Line line = new Line();
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

  private SSLSocket connect(Line line) throws IOException {
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
      socket.setEnabledProtocols(new String[] {"TLSv1.3"});
      socket.startHandshake();
      return socket;
    } catch (IOException e) {
      line.close();
      throw e;
    }
  }

  private void greet(DataInputStream in, DataOutputStream out) throws IOException {
    Wire.hello(out, transfer);
    byte answer = in.readByte();
    if (answer == Wire.FAILED) {
      String sentence = in.readUTF();
      outbound.fail("peer " + peer + " refused: " + sentence);
      throw new IOException(sentence);
    }
    if (answer != Wire.DONE) {
      throw new IOException("peer " + peer + ": wanted an answer to the greeting, found " + answer);
    }
  }
}
