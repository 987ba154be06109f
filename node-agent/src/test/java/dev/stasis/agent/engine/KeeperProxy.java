package dev.stasis.agent.engine;

import dev.stasis.agent.process.ChildStart;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;

/**
 * Stands between agents and the keeper of a container, so that a test can act between any two
 * commands. It starts the keeper as an agent would: when a connection comes and none runs.
 */
final class KeeperProxy implements AutoCloseable {

  /** A keeper starts in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Acts when the keeper has carried out a command, before the agent hears of it. */
  interface Hook {
    void after(String command) throws Exception;

    /** Acts before the keeper hears of a command. */
    default void before(String command) throws Exception {}
  }

  private final EngineLab lab;
  private final Path socket;
  private final Path real;
  private final boolean rested;
  private final ServerSocketChannel listener;
  private final Hook hook;
  private final Thread thread;
  private volatile SocketChannel last;
  private final Queue<Thread> carriers = new ConcurrentLinkedQueue<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  KeeperProxy(EngineLab lab, String containerId, Hook hook) throws IOException {
    this.lab = lab;
    this.hook = hook;
    Path socket = lab.state().resolve("k-" + containerId.substring(0, 20));
    this.socket = socket;
    this.real = socket.resolveSibling(socket.getFileName() + ".r");
    this.rested = Files.exists(socket);
    if (rested) { // A keeper of an earlier operation listens there.
      Files.move(socket, real, StandardCopyOption.REPLACE_EXISTING);
    }
    this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(socket));
    this.last = SocketChannel.open(StandardProtocolFamily.UNIX);
    this.thread = new Thread(this::serve, "keeper-proxy");
    thread.start();
  }

  private void serve() {
    try {
      while (true) {
        SocketChannel agent = listener.accept();
        // As the keeper: a new agent takes the place of the one before. In this order there, too.
        last.close();
        last = agent;
        SocketChannel keeper = keeper();
        Thread carrier = new Thread(() -> carryToTheEnd(agent, keeper), "keeper-proxy-connection");
        carrier.start();
        carriers.add(carrier);
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void carryToTheEnd(SocketChannel agent, SocketChannel keeper) {
    try (agent;
        keeper) {
      carry(agent, keeper);
    } catch (IOException gone) {
      // Either of them has died; the other one sees its connection closed.
    } catch (Exception | AssertionError e) {
      failure.set(e);
    }
  }

  private void carry(SocketChannel agent, SocketChannel keeper) throws Exception {
    BufferedReader commands = reader(agent);
    BufferedReader answers = reader(keeper);
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String command = line.split(" ", 2)[0];
      hook.before(command);
      send(keeper, line);
      String answer = answers.readLine();
      hook.after(command);
      if (answer == null) {
        return;
      }
      send(agent, answer);
      if (command.equals("quit") || command.equals("rest")) {
        answers.readLine(); // Its end, for which the agent waits.
        return;
      }
    }
  }

  private static BufferedReader reader(SocketChannel channel) {
    return new BufferedReader(
        new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
  }

  private static void send(SocketChannel to, String line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      to.write(bytes);
    }
  }

  private SocketChannel keeper() throws IOException {
    try {
      return connected();
    } catch (IOException none) {
      ProcessBuilder program =
          new ProcessBuilder(EngineLab.keeper().toString(), "serve", "--socket", real.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(lab.folder().resolve("keeper.log").toFile());
      program.environment().putAll(EngineLab.keeperEnvironment(lab.gpus()));
      new ChildStart().start(program);
      Awaitility.await("a keeper")
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(10))
          .ignoreExceptionsInstanceOf(IOException.class)
          .untilAsserted(() -> connected().close());
      return connected();
    }
  }

  private SocketChannel connected() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(real));
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
      thread.join();
      last.close();
      for (Thread carrier : carriers) {
        carrier.join();
      }
      Files.deleteIfExists(socket);
      if (rested && Files.exists(real)) {
        Files.move(real, socket);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure.get() != null) {
      throw new AssertionError("between agent and keeper", failure.get());
    }
  }
}
