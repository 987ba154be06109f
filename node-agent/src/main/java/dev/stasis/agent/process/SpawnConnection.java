package dev.stasis.agent.process;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A running {@code stasis-runtime spawn}, which starts programs for this one. It ends with this
 * program. The programs that it starts are children of this program.
 */
final class SpawnConnection {

  /** What Java itself uses for names of files and arguments. */
  private static final Charset CHARSET =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private static final int ANSWER_BYTES = 12;

  /** A process that waits for {@link Start#go}. */
  private static final int WAITS = -1;

  private final Process process;
  private final OutputStream requests;
  private final Map<Integer, Start> starts = new ConcurrentHashMap<>();
  private final AtomicInteger lastId = new AtomicInteger();
  private final CompletableFuture<SpawnConnection> ready = new CompletableFuture<>();
  private volatile boolean ended;

  /** The start of one program. */
  final class Start {
    private final int id;
    private final CompletableFuture<Integer> waiting = new CompletableFuture<>();
    private final CompletableFuture<Integer> error = new CompletableFuture<>();

    private Start(int id) {
      this.id = id;
    }

    /** Completes with the pid of the new process, which waits for {@link #go}. */
    CompletableFuture<Integer> waiting() {
      return waiting;
    }

    /** Lets the process run the program. Without it, it never does. */
    void go() throws IOException {
      send(id, new byte[0]);
    }

    /** Completes with 0 when the program runs, or with the number of an error. */
    CompletableFuture<Integer> error() {
      return error;
    }
  }

  /**
   * Starts one.
   *
   * @param runtime the program {@code stasis-runtime}
   */
  SpawnConnection(Path runtime) throws IOException {
    process =
        new ProcessBuilder(runtime.toString(), "spawn")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    requests = process.getOutputStream();
    new DaemonThreads("spawn-helper").newThread(this::read).start();
  }

  /** Completes when it accepts requests. */
  CompletableFuture<SpawnConnection> ready() {
    return ready;
  }

  boolean isAlive() {
    return !ended;
  }

  void end() {
    process.destroyForcibly();
  }

  /** Asks for a process that will run the program. */
  Start begin(ProcessBuilder program, ChildStreams streams) throws IOException {
    StringBuilder texts = new StringBuilder();
    streams.opened().forEach(text -> texts.append(text).append('\0'));
    @Nullable File directory = program.directory();
    texts.append(directory == null ? "" : directory.getPath()).append('\0');
    texts.append(program.command().size()).append('\0');
    for (String argument : program.command()) {
      if (argument.indexOf('\0') >= 0) {
        throw new IOException("argument of a program: expected text, got a zero byte in it");
      }
      texts.append(argument).append('\0');
    }
    program
        .environment()
        .forEach((name, value) -> texts.append(name).append('=').append(value).append('\0'));
    Start start = new Start(lastId.incrementAndGet());
    starts.put(start.id, start);
    send(start.id, texts.toString().getBytes(CHARSET));
    if (ended) {
      // The reader may have missed this start.
      failAll(new EOFException("stasis-runtime spawn has ended"));
    }
    return start;
  }

  private void send(int id, byte[] request) throws IOException {
    ByteBuffer message =
        ByteBuffer.allocate(2 * Integer.BYTES + request.length).order(ByteOrder.nativeOrder());
    message.putInt(id).putInt(request.length).put(request);
    synchronized (requests) {
      requests.write(message.array());
      requests.flush();
    }
  }

  private void read() {
    try (InputStream answers = process.getInputStream()) {
      while (true) {
        byte[] bytes = answers.readNBytes(ANSWER_BYTES);
        if (bytes.length < ANSWER_BYTES) {
          throw new EOFException("stasis-runtime spawn has ended");
        }
        ByteBuffer answer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        take(answer.getInt(), answer.getInt(), answer.getInt());
      }
    } catch (IOException e) {
      ended = true;
      ready.completeExceptionally(e);
      failAll(e);
    }
  }

  private void take(int id, int pid, int error) {
    if (id == 0) {
      ready.complete(this);
      return;
    }
    Start start = starts.get(id);
    if (start == null) {
      return;
    }
    if (error == WAITS) {
      start.waiting.complete(pid);
      return;
    }
    starts.remove(id);
    if (pid == 0) {
      start.waiting.completeExceptionally(new IOException(LibC.INSTANCE.strerror(error)));
    }
    start.error.complete(error);
  }

  private void failAll(IOException why) {
    for (Start start : starts.values()) {
      starts.remove(start.id);
      start.waiting.completeExceptionally(why);
      start.error.completeExceptionally(why);
    }
  }
}
