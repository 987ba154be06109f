package dev.stasis.agent.direct;

import dev.stasis.agent.process.DaemonThreads;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process that has the driver initialized on all GPUs of this node and does nothing else. Without
 * it, the first process on a GPU, for instance one that is being resumed, makes the driver switch
 * contexts on every GPU of the node; a workload that was resumed before and has a kernel that runs
 * for more than 4 s is ended by that (docs/compatibility.md, "Long kernels of resumed workloads").
 *
 * <p>The anchor runs outside the agent's container and outlives the agent for a while, so that an
 * agent that is restarted or upgraded finds it. No operation depends on it.
 */
public final class GpuAnchor implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(GpuAnchor.class.getName());

  /** A node without a usable driver has no anchor; its driver may be installed later. */
  private static final Duration RETRY = Duration.ofMinutes(1);

  private final KeeperSettings settings;
  private final Path runtime;
  private final ProgramSocket socket;
  private final Path log;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("gpu-anchor"));
  private volatile @Nullable SocketChannel connection;
  private volatile boolean closed;
  private String reported = "";

  /**
   * The anchor of this node.
   *
   * @param runtime the program {@code stasis-runtime}, which starts it outside the agent's
   *     container
   * @param stateDir folder of its socket
   */
  public GpuAnchor(KeeperSettings settings, Path runtime, Path stateDir) {
    this.settings = settings;
    this.runtime = runtime;
    this.socket = new ProgramSocket(stateDir.resolve("gpu-anchor"), ProgramSocket.START_LIMIT);
    this.log = stateDir.resolve("gpu-anchor.log");
  }

  /** Starts one or finds the running one, now and whenever it has ended. Returns immediately. */
  public void start() {
    if (Files.isExecutable(settings.program())) {
      @SuppressWarnings("unused") // It ends with the executor.
      var unused =
          thread.scheduleWithFixedDelay(this::hold, 0, RETRY.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Returns whether the driver is held initialized. */
  boolean held() {
    return connection != null;
  }

  private void hold() {
    try (SocketChannel channel = connected()) {
      connection = channel;
      reported = "";
      if (!closed) {
        channel.read(ByteBuffer.allocate(1)); // It never sends anything: this waits for its end.
        report("it has ended");
      }
    } catch (IOException e) {
      report(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connection = null;
    }
  }

  private void report(String why) {
    if (!closed && !why.equals(reported)) {
      reported = why;
      LOG.log(Level.WARNING, "GPU anchor: {0}; trying again every {1}", why, RETRY);
    }
  }

  private SocketChannel connected() throws IOException, InterruptedException {
    Optional<SocketChannel> running = socket.connect();
    if (running.isPresent()) {
      return running.get();
    }
    Process child =
        socket.start(
            settings,
            runtime,
            ProcessBuilder.Redirect.to(log.toFile()),
            "anchor",
            socket.path().toString(),
            "" + settings.anchorGrace().toMillis());
    Optional<SocketChannel> started = socket.await(child.toHandle());
    if (started.isEmpty()) {
      child.destroyForcibly();
      throw new IOException("it did not start; see " + log);
    }
    return started.get();
  }

  /** Lets it go: it ends after its grace unless another agent connects. */
  @Override
  public void close() {
    closed = true;
    thread.shutdownNow();
    SocketChannel now = connection;
    if (now != null) {
      try {
        now.close();
      } catch (IOException e) {
        LOG.log(Level.DEBUG, "closing the connection to the GPU anchor", e);
      }
    }
  }
}
