package dev.stasis.agent.direct;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The commands and answers of one connection to a keeper. Only its end is for several threads. */
final class KeeperConnection implements AutoCloseable {

  /** The longest one lists 64 processes. */
  private static final int LONGEST_ANSWER = 8192;

  /** Begins a line before the answer of a save. */
  private static final String PROGRESS = "at ";

  private final SocketChannel channel;
  private final Selector selector;
  private volatile boolean awaitsEnd;

  KeeperConnection(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    this.selector = Selector.open();
    channel.register(selector, SelectionKey.OP_READ);
  }

  /** Decides how long a command may make no progress. */
  interface Patience {

    /**
     * Returns the time until the next line.
     *
     * @param bytes how much of the command's data is final; 0 at first
     */
    Duration after(long bytes);
  }

  /**
   * Sends a command and waits for its answer.
   *
   * @param deadline the limit of the whole command
   */
  KeeperAnswer ask(Duration deadline, Patience patience, String... words)
      throws KeeperFailure, InterruptedException {
    String what = words[0];
    for (String word : words) {
      if (word.isEmpty() || word.chars().anyMatch(each -> each < ' ')) {
        throw new KeeperFailure(
            "%s: expected printable words, got \"%s\"".formatted(what, word), false);
      }
    }
    try {
      ByteBuffer line =
          ByteBuffer.wrap((String.join(" ", words) + "\n").getBytes(StandardCharsets.UTF_8));
      while (line.hasRemaining()) {
        // A command is shorter than what a socket accepts at once.
        channel.write(line);
      }
      KeeperAnswer answer = KeeperAnswer.parse(answer(deadline, patience));
      if (!answer.ok()) {
        throw new KeeperFailure(what + ": " + answer.text(), false);
      }
      return answer;
    } catch (IOException e) {
      throw new KeeperFailure(what + ": the keeper: " + e.getMessage(), true);
    }
  }

  private String answer(Duration deadline, Patience patience)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + deadline.toNanos();
    Duration silence = patience.after(0);
    long until = System.nanoTime() + silence.toNanos();
    ByteBuffer answer = ByteBuffer.allocate(LONGEST_ANSWER);
    while (answer.hasRemaining()) {
      long left = Math.min(until - System.nanoTime(), end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new IOException(
            silence.compareTo(deadline) < 0
                ? "expected progress within %d s, got none; %s"
                    .formatted(silence.toSeconds(), KeeperFailure.SILENT_STORE)
                : "expected an answer within its deadline, got none");
      }
      if (!receive(answer, left)) {
        throw new IOException("the keeper closed the connection");
      }
      for (String line = line(answer); line != null; line = line(answer)) {
        if (!line.startsWith(PROGRESS)) {
          return line;
        }
        silence = patience.after(Long.parseLong(line.substring(PROGRESS.length())));
        until = System.nanoTime() + silence.toNanos();
      }
    }
    throw new IOException(
        "expected a line, got %d bytes without a line break".formatted(LONGEST_ANSWER));
  }

  /** Waits for bytes; returns false if the connection is closed. */
  private boolean receive(ByteBuffer to, long limitMillis)
      throws IOException, InterruptedException {
    selector.select(limitMillis);
    if (Thread.interrupted()) {
      throw new InterruptedException("waiting for the keeper");
    }
    selector.selectedKeys().clear();
    return channel.read(to) >= 0;
  }

  /** Takes the first line of what has arrived; null if it is not complete yet. */
  private static @Nullable String line(ByteBuffer arrived) {
    for (int end = 0; end < arrived.position(); end++) {
      if (arrived.get(end) == '\n') {
        String line = new String(arrived.array(), 0, end, StandardCharsets.UTF_8);
        arrived.flip().position(end + 1);
        arrived.compact();
        return line;
      }
    }
    return null;
  }

  /**
   * Gives up the command that was sent. The keeper executes those of the next connection, and
   * closes this one when nothing of the command uses its files any more. Only {@link #awaitEnd} may
   * follow, which has to be called then.
   */
  void giveUp() {
    awaitsEnd = true;
    try {
      channel.shutdownOutput();
    } catch (IOException gone) {
      log("a keeper has ended", gone);
    }
  }

  /**
   * Waits until the keeper has closed the connection.
   *
   * @return false if it has not done so within that time
   */
  synchronized boolean awaitEnd(Duration limit) throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    try {
      for (long left = limit.toMillis(); left > 0 && selector.isOpen(); ) {
        if (!receive(ByteBuffer.allocate(LONGEST_ANSWER), left)) {
          break;
        }
        left = (until - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          return false;
        }
      }
    } catch (IOException gone) {
      log("a keeper has ended", gone);
    }
    awaitsEnd = false;
    close();
    return true;
  }

  @Override
  public void close() {
    if (awaitsEnd) {
      return;
    }
    try {
      selector.close();
      channel.close();
    } catch (IOException e) {
      log("closing a connection to the keeper", e);
    }
  }

  private static void log(String what, IOException e) {
    System.getLogger(KeeperConnection.class.getName()).log(System.Logger.Level.DEBUG, what, e);
  }
}
