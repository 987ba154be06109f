package dev.stasis.agent.direct;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a running keeper. Commands and states are those of docs/direct-path.md. The
 * keeper's memory outlives the connection. Not thread-safe.
 */
public final class Keeper implements AutoCloseable {

  /** It looks up data or waits 5 s for the library; a longer time means that it is gone. */
  private static final Duration QUICK = Duration.ofSeconds(15);

  /** The keeper itself waits 60 s for a batch of the library. */
  private static final Duration BATCH = Duration.ofSeconds(90);

  /** Files were written at 1.7 GB/s; a slow disk still reaches 50 MB/s. */
  private static final long SLOWEST_BYTES_PER_SECOND = 50_000_000;

  /** A save shares the disk with the mover and criu. */
  private static final int WRITERS = 3;

  /** Added to the library's own timeout of a close: the keeper waits 5 s longer for the answer. */
  private static final Duration CLOSE_SLACK = Duration.ofSeconds(10);

  /** The longest one lists 64 processes. */
  private static final int LONGEST_ANSWER = 8192;

  /** Begins a line before the answer of a save. */
  private static final String PROGRESS = "at ";

  private final SocketChannel channel;
  private final Selector selector;

  private Keeper(SocketChannel channel, Selector selector) {
    this.channel = channel;
    this.selector = selector;
  }

  static Keeper over(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    Selector selector = Selector.open();
    channel.register(selector, SelectionKey.OP_READ);
    return new Keeper(channel, selector);
  }

  /** Connects to the library of a process; returns its report. */
  public Gate attach(ProcessId process) throws KeeperFailure, InterruptedException {
    return gate(
        ask(QUICK, "attach", name(process), "" + process.pid(), "" + process.startTime()), process);
  }

  /** Tells the library that the agent is present. */
  public void status(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(QUICK, "status", name(process));
  }

  /**
   * Closes the gate and waits until no call and no kernel runs, or leaves it open. Returns what the
   * library says of its memory, which does not change any more.
   */
  public Gate close(ProcessId process, Duration timeout)
      throws KeeperFailure, InterruptedException {
    return gate(
        ask(timeout.plus(CLOSE_SLACK), "close", name(process), "" + timeout.toMillis()), process);
  }

  /** Imports the memory; returns its size in bytes. */
  public long export(ProcessId process) throws KeeperFailure, InterruptedException {
    KeeperAnswer answer = ask(BATCH, "export", name(process));
    return Long.parseLong(answer.values().getOrDefault("bytes", "0"));
  }

  /** Makes the process release its memory. From here on the keeper has the only copy. */
  public void unload(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(BATCH, "unload", name(process));
  }

  /** Closes the connection to the library, because criu could not dump it. */
  public void detach(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(QUICK, "detach", name(process));
  }

  /** Copies on the GPU if that leaves the reserve free. */
  public void snapshot(ProcessId process, long reserveMib)
      throws KeeperFailure, InterruptedException {
    ask(BATCH, "snapshot", name(process), "" + reserveMib);
  }

  /**
   * Makes {@code path.data} on a tmpfs for a later {@link #stage} or {@link #save}, with all of its
   * pages pinned for this and every other GPU in use.
   */
  public void room(GpuUuid gpu, long bytes, Path path) throws KeeperFailure, InterruptedException {
    ask(copying(bytes), "room", gpu.text(), "" + bytes, path.toString());
  }

  /** Copies into the room of that path. A {@link #save} to the same path adds the digests. */
  public void stage(ProcessId process, Path path) throws KeeperFailure, InterruptedException {
    ask(BATCH, "stage", name(process), path.toString());
  }

  /** Writes {@code path.data} and {@code path.chunks}. */
  public void save(ProcessId process, Path path, long bytes)
      throws KeeperFailure, InterruptedException {
    ask(copying(WRITERS * bytes), "save", name(process), path.toString());
  }

  /**
   * The same. The keeper gives up when this connection is closed before the end, unless it copies
   * from a snapshot.
   *
   * @param saved receives how many bytes from the beginning of the data are final; not from a
   *     keeper that an older agent has started
   */
  public void save(ProcessId process, Path path, long bytes, LongConsumer saved)
      throws KeeperFailure, InterruptedException {
    try {
      ask(QUICK, "follow");
    } catch (KeeperFailure older) {
      if (older.connectionLost()) {
        throw older;
      }
    }
    ask(copying(WRITERS * bytes), saved, "save", name(process), path.toString());
  }

  /** Gives the process its memory back, from the keeper's copy. */
  public void reload(ProcessId process, long bytes) throws KeeperFailure, InterruptedException {
    ask(copying(bytes), "reload", name(process));
  }

  /** Gives the process its memory back from files, checking their digests. */
  public void reload(ProcessId process, Path path, long bytes)
      throws KeeperFailure, InterruptedException {
    ask(copying(bytes), "reload", name(process), path.toString());
  }

  /**
   * Takes memory of a GPU for as much of the files as leaves the reserve free. It is filled by
   * {@link #prefill} and used by the {@link #reload} of the same path.
   */
  public void reserve(GpuUuid gpu, long reserveMib, Path path)
      throws KeeperFailure, InterruptedException {
    ask(BATCH, "reserve", gpu.text(), "" + reserveMib, path.toString());
  }

  /** Loads the reserved part of the files, checking its digests. */
  public void prefill(Path path, long bytes) throws KeeperFailure, InterruptedException {
    ask(copying(bytes), "prefill", path.toString());
  }

  /**
   * Loads what lies in a part of the reserved data that has arrived. The keeper keeps the digests
   * of what it loaded, and compares them at the next {@link #reserve}, when the table is complete.
   */
  public void arrived(Path path, long from, long to) throws KeeperFailure, InterruptedException {
    ask(copying(to - from), "arrived", "" + from, "" + to, path.toString());
  }

  /** Ends the keeper with this process, as long as only reserved memory keeps it. */
  public void until(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(QUICK, "until", "" + process.pid(), "" + process.startTime());
  }

  /** Gives up the copy that was made for the artifact, and with it the device memory it takes. */
  public void forget(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(BATCH, "forget", name(process));
  }

  /** Opens the gate. */
  public void open(ProcessId process) throws KeeperFailure, InterruptedException {
    ask(QUICK, "open", name(process));
  }

  /** Releases all memory of a process, even if it is the only copy. */
  public void drop(ProcessId process) throws KeeperFailure, InterruptedException {
    drop(name(process));
  }

  /** Returns whether the keeper holds allocations of the process. */
  public boolean holds(ProcessId process) throws KeeperFailure, InterruptedException {
    String entry = ask(QUICK, "list").values().getOrDefault(name(process), "");
    return !entry.isEmpty() && !(entry + ",").contains(",blocks:0,");
  }

  /**
   * Makes contexts on GPUs, which takes up to a second each. The keeper refuses memory of any other
   * GPU, because a hostile library may name that of another pod.
   */
  public void use(Collection<GpuUuid> gpus) throws KeeperFailure, InterruptedException {
    for (GpuUuid gpu : gpus) {
      ask(BATCH, "use", gpu.text());
    }
  }

  /** Releases everything, ends the keeper, and waits until its contexts are gone. */
  void end() throws KeeperFailure, InterruptedException {
    leave("quit");
  }

  /** Releases everything but the contexts; the keeper ends when the processes have ended. */
  void rest() throws KeeperFailure, InterruptedException {
    leave("rest");
  }

  private void leave(String command) throws KeeperFailure, InterruptedException {
    for (Map.Entry<String, String> held : ask(QUICK, "list").values().entrySet()) {
      if (held.getValue().startsWith("pid:")) {
        drop(held.getKey());
      }
    }
    ask(QUICK, command);
    try {
      answer(System.nanoTime() + QUICK.toNanos(), bytes -> {});
    } catch (IOException gone) {
      // It closes the connection. If it hangs, it holds nothing any more.
      System.getLogger(Keeper.class.getName())
          .log(System.Logger.Level.DEBUG, "a keeper ended", gone);
    }
  }

  private void drop(String name) throws KeeperFailure, InterruptedException {
    ask(BATCH, "drop", name);
  }

  private static String name(ProcessId process) {
    return "p" + process.pid();
  }

  private static Duration copying(long bytes) {
    return BATCH.plusSeconds(bytes / SLOWEST_BYTES_PER_SECOND);
  }

  private static Gate gate(KeeperAnswer answer, ProcessId process) throws KeeperFailure {
    return answer
        .gate()
        .orElseThrow(
            () ->
                new KeeperFailure(
                    "process %s: expected a state, got \"%s\"".formatted(process, answer.text()),
                    false));
  }

  KeeperAnswer ask(Duration deadline, String... words) throws KeeperFailure, InterruptedException {
    return ask(deadline, bytes -> {}, words);
  }

  private KeeperAnswer ask(Duration deadline, LongConsumer progress, String... words)
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
      KeeperAnswer answer =
          KeeperAnswer.parse(answer(System.nanoTime() + deadline.toNanos(), progress));
      if (!answer.ok()) {
        throw new KeeperFailure(what + ": " + answer.text(), false);
      }
      return answer;
    } catch (IOException e) {
      throw new KeeperFailure(what + ": the keeper: " + e.getMessage(), true);
    }
  }

  private String answer(long until, LongConsumer progress)
      throws IOException, InterruptedException {
    ByteBuffer answer = ByteBuffer.allocate(LONGEST_ANSWER);
    while (answer.hasRemaining()) {
      long left = (until - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new IOException("expected an answer within its deadline, got none");
      }
      selector.select(left);
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for the keeper");
      }
      selector.selectedKeys().clear();
      int read = channel.read(answer);
      if (read < 0) {
        throw new IOException("the keeper closed the connection");
      }
      for (String line = line(answer); line != null; line = line(answer)) {
        if (!line.startsWith(PROGRESS)) {
          return line;
        }
        progress.accept(Long.parseLong(line.substring(PROGRESS.length())));
      }
    }
    throw new IOException(
        "expected a line, got %d bytes without a line break".formatted(LONGEST_ANSWER));
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

  @Override
  public void close() {
    try {
      selector.close();
      channel.close();
    } catch (IOException e) {
      System.getLogger(Keeper.class.getName())
          .log(System.Logger.Level.DEBUG, "closing a connection to the keeper", e);
    }
  }
}
