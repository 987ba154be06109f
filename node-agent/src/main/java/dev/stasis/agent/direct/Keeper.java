package dev.stasis.agent.direct;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.LongConsumer;

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

  /** The keeper reports each 64 MiB, but not the last ones. */
  private static final long UNREPORTED = 2 * (64L << 20);

  /**
   * A save that was given up ends with its current chunks: milliseconds, in a store that responds.
   */
  private static final Duration TO_END = Duration.ofSeconds(2);

  /**
   * A thread that waits for a store ends once the store responds, and the caller waits for that.
   */
  private static final Duration FOREVER = Duration.ofDays(24);

  private final KeeperConnection connection;

  private Keeper(KeeperConnection connection) {
    this.connection = connection;
  }

  static Keeper over(SocketChannel channel) throws IOException {
    return new Keeper(new KeeperConnection(channel));
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

  /**
   * Writes {@code path.data} and {@code path.chunks}.
   *
   * @param silence how long it may make no progress. When everything is written, it has 1 s more
   *     for each 50 MB: an NFS client writes what it still has when a file is closed
   * @param saved receives how many bytes from the beginning of the data are final; not from a
   *     keeper that an older agent has started
   * @throws KeeperFailure after which {@link #giveUp} has to be called, if the connection is lost
   * @throws InterruptedException as well
   */
  public void save(ProcessId process, Path path, long bytes, Duration silence, LongConsumer saved)
      throws KeeperFailure, InterruptedException {
    Duration whole = copying(WRITERS * bytes);
    Duration last = silence.plusSeconds(bytes / SLOWEST_BYTES_PER_SECOND);
    boolean reports = follow();
    connection.ask(
        whole,
        at -> {
          if (at > 0) {
            saved.accept(at);
          }
          return !reports ? whole : bytes - at > UNREPORTED ? silence : last;
        },
        "save",
        name(process),
        path.toString());
  }

  /** Returns false for a keeper that an older agent has started. */
  private boolean follow() throws KeeperFailure, InterruptedException {
    try {
      ask(QUICK, "follow");
      return true;
    } catch (KeeperFailure older) {
      if (older.connectionLost()) {
        throw older;
      }
      return false;
    }
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
    // It closes the connection. If it hangs, it holds nothing any more.
    var unused = connection.awaitEnd(QUICK);
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
    return connection.ask(deadline, bytes -> deadline, words);
  }

  /**
   * Gives up the save whose thread was interrupted or which makes no progress. The keeper executes
   * the commands of the next connection, and this object waits for the end of those of its threads
   * that still use the store.
   *
   * @return false if there are some after a moment: then {@link #awaitEnd} has to be called
   */
  public boolean giveUp() throws InterruptedException {
    connection.giveUp();
    return connection.awaitEnd(TO_END);
  }

  /** Waits until no thread of the save that was given up uses the store. */
  public void awaitEnd() throws InterruptedException {
    var unused = connection.awaitEnd(FOREVER);
  }

  @Override
  public void close() {
    connection.close();
  }
}
