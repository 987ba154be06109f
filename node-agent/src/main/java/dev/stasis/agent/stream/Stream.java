package dev.stasis.agent.stream;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One connection: sends blocks and receives acknowledgements. At its end, unacknowledged blocks
 * return to the queue.
 */
final class Stream implements AutoCloseable {

  /** Blocks in flight: enough that neither end waits for the other's disk or network. */
  private static final int WINDOW = 8;

  private final SSLSocket socket;
  private final BufferedSocket line;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final SendQueue outbound;
  private final StreamSender.RateLimit limit;
  private final Duration silence;
  private final Runnable answered;
  private final Semaphore window = new Semaphore(WINDOW);
  private final Map<Long, Block> sent = new LinkedHashMap<>();
  private final Thread listener;
  private volatile @Nullable IOException broken;
  private volatile boolean ended;

  Stream(
      SSLSocket socket,
      BufferedSocket line,
      DataInputStream in,
      DataOutputStream out,
      SendQueue outbound,
      StreamSender.RateLimit limit,
      Duration silence,
      Runnable answered)
      throws IOException {
    this.socket = socket;
    this.line = line;
    this.in = in;
    this.out = out;
    this.outbound = outbound;
    this.limit = limit;
    this.answered = answered;
    this.silence = silence;
    socket.setSoTimeout((int) silence.toMillis());
    this.listener = new Thread(this::listen, Thread.currentThread().getName() + "-answers");
    listener.setDaemon(true);
    listener.start();
  }

  /** Sends blocks until there are no more. */
  void sendAll() throws IOException, InterruptedException {
    byte[] piece = new byte[StreamProtocol.PIECE];
    for (Optional<Block> block = outbound.take(); block.isPresent(); block = outbound.take()) {
      synchronized (sent) {
        sent.put(block.get().number(), block.get());
      }
      check();
      try (Source source = new Source(block.get())) {
        send(block.get(), source, piece);
      }
    }
    out.writeByte(StreamProtocol.END);
    out.flush();
    ended = true;
  }

  private void send(Block block, Source source, byte[] piece)
      throws IOException, InterruptedException {
    if (source.isZero(piece)) {
      // It becomes a hole at the other end; the list of files has the size.
      acknowledged(block.number());
      return;
    }
    if (!window.tryAcquire(StreamSender.ANSWER_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new IOException(
          "peer: expected an acknowledgement within %d s, got none"
              .formatted(StreamSender.ANSWER_MILLIS / 1000));
    }
    check();
    limit.pass(block.length());
    line.hold();
    out.writeByte(StreamProtocol.BLOCK);
    out.writeLong(block.number());
    out.writeUTF(block.name());
    out.writeLong(block.offset());
    out.writeInt(block.length());
    CRC32C crc = new CRC32C();
    for (int at = 0; at < block.length(); at += piece.length) {
      int length = Math.min(piece.length, block.length() - at);
      source.read(at, piece, length);
      crc.update(piece, 0, length);
      out.write(piece, 0, length);
    }
    out.writeInt((int) crc.getValue());
    out.flush();
    line.release();
  }

  /** The file of a block is our own, so an error in it is not an error of this stream. */
  private final class Source implements AutoCloseable {
    private final Block block;
    private final FileChannel file;

    Source(Block block) throws IOException {
      this.block = block;
      try {
        this.file = outbound.open(block.name());
      } catch (IOException e) {
        throw failed(block, e);
      }
    }

    boolean isZero(byte[] piece) throws IOException {
      for (int at = 0; at < block.length(); at += piece.length) {
        int length = Math.min(piece.length, block.length() - at);
        read(at, piece, length);
        if (!zeros(piece, length)) {
          return false;
        }
      }
      return true;
    }

    void read(int at, byte[] piece, int length) throws IOException {
      ByteBuffer buffer = ByteBuffer.wrap(piece, 0, length);
      try {
        while (buffer.hasRemaining()) {
          if (file.read(buffer, block.offset() + at + buffer.position()) < 0) {
            throw new EOFException(
                "expected %d bytes at %d, got the end".formatted(block.length(), block.offset()));
          }
        }
      } catch (IOException e) {
        throw failed(block, e);
      }
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  private IOException failed(Block block, IOException e) {
    String why = "file " + block.name() + ": " + e.getMessage();
    outbound.fail(why);
    return new IOException(why, e);
  }

  private static boolean zeros(byte[] data, int length) {
    for (int i = 0; i < length; i++) {
      if (data[i] != 0) {
        return false;
      }
    }
    return true;
  }

  private void listen() {
    try {
      while (true) {
        byte frame = nextFrame();
        answered.run();
        if (frame == StreamProtocol.FAILED) {
          outbound.fail(in.readUTF());
          throw new IOException("the peer ended the transfer");
        }
        if (frame != StreamProtocol.ACKNOWLEDGED) {
          throw new IOException("peer: expected an acknowledgement, got " + frame);
        }
        window.release();
        acknowledged(in.readLong());
      }
    } catch (IOException e) {
      if (!ended) {
        broken = e;
        // Wakes threads that wait for the window or for the next block of this stream.
        window.release(WINDOW);
        giveBack();
        hangUp();
      }
    }
  }

  /**
   * An idle stream is silent while there is nothing to send; silence is an error only otherwise.
   */
  private byte nextFrame() throws IOException {
    while (true) {
      try {
        return in.readByte();
      } catch (SocketTimeoutException e) {
        synchronized (sent) {
          if (!sent.isEmpty()) {
            throw new IOException(
                "peer: expected an acknowledgement within %d s, got none"
                    .formatted(silence.toSeconds()),
                e);
          }
        }
      }
    }
  }

  /**
   * A write to a connection without a reader waits forever unless the connection is closed. The
   * plain connection is closed first: TLS sends a closing message, and would wait for the pending
   * write.
   */
  private void hangUp() {
    try {
      line.setSoLinger(true, 0);
      line.close();
      socket.close();
    } catch (IOException e) {
      System.getLogger(Stream.class.getName()).log(Level.DEBUG, "Cannot close a broken stream", e);
    }
  }

  private void acknowledged(long number) {
    synchronized (sent) {
      sent.remove(number);
    }
    outbound.done(number);
  }

  private void giveBack() {
    synchronized (sent) {
      outbound.giveBack(new ArrayList<>(sent.values()));
      sent.clear();
    }
  }

  private void check() throws IOException {
    IOException was = broken;
    if (was != null) {
      throw new IOException("the stream failed: " + was.getMessage(), was);
    }
  }

  @Override
  public void close() throws IOException {
    giveBack();
    if (!ended) {
      hangUp();
    }
    socket.close();
  }
}
