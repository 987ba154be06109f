package dev.stasis.agent.daemon.node;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.node.AgentIdentity;
import dev.stasis.api.v1alpha1.node.GpuNodeStatus;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the GpuNode true: written at the start, whenever something changed, and as a heartbeat.
 * Nothing is written when it would say nothing new.
 */
public final class NodeReporter implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(NodeReporter.class.getName());

  /** After a write that failed; the API server is asked no more often than that. */
  private static final Duration AGAIN = Duration.ofSeconds(5);

  /** A look asks driver, criu and sockets, each with a deadline: all of them together. */
  private static final Duration STUCK = Duration.ofMinutes(5);

  private final NodeFinder finder;
  private final GpuNodeWriter writer;
  private final GpuNodeText text = new GpuNodeText();
  private final AgentIdentity identity;
  private final Duration heartbeat;
  private final Clock clock;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "gpu-node");
            made.setDaemon(true);
            return made;
          });
  private final AtomicBoolean nudged = new AtomicBoolean();
  private volatile Instant lastLook;
  private volatile Instant lastWrite = Instant.EPOCH;
  private volatile Optional<String> trouble = Optional.of("GpuNode: not written yet");
  private @Nullable JsonNode written;
  private @Nullable GpuNodeStatus before;

  NodeReporter(
      NodeFinder finder,
      GpuNodeWriter writer,
      AgentIdentity identity,
      Duration heartbeat,
      Clock clock) {
    this.finder = finder;
    this.writer = writer;
    this.identity = identity;
    this.heartbeat = heartbeat;
    this.clock = clock;
    this.lastLook = clock.instant();
  }

  /** Begins to report. */
  public void start() {
    nudge();
    var unused =
        thread.scheduleWithFixedDelay(
            this::nudge, heartbeat.toMillis(), heartbeat.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Something may have changed: looks again soon, once for any number of nudges. */
  public void nudge() {
    if (nudged.compareAndSet(false, true)) {
      try {
        thread.execute(this::round);
      } catch (RejectedExecutionException e) {
        LOG.log(Level.DEBUG, "the agent ends: nothing more is reported");
      }
    }
  }

  /** Why the GpuNode does not stand in the cluster as it should; empty when it does. */
  public Optional<String> trouble() {
    return trouble;
  }

  /** Whether looks at the node still come to an end. */
  public boolean isAlive() {
    return lastLook.plus(heartbeat).plus(STUCK).isAfter(clock.instant());
  }

  private void round() {
    nudged.set(false);
    try {
      report();
      trouble = Optional.empty();
    } catch (KubernetesClientException | IOException e) {
      again("GpuNode: wanted it written, found " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException e) {
      if (thread.isShutdown()) {
        return;
      }
      LOG.log(Level.ERROR, "GpuNode: a look at the node failed", e);
      again("GpuNode: wanted a look at the node, found " + e);
    }
    lastLook = clock.instant();
  }

  private void again(String why) {
    LOG.log(Level.WARNING, why);
    trouble = Optional.of(why);
    var unused = thread.schedule(this::nudge, AGAIN.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void report() throws IOException, InterruptedException {
    if (before == null) {
      writer.read().ifPresent(node -> before = node.getStatus());
    }
    NodeLook look = finder.look();
    Instant now = clock.instant();
    GpuNodeStatus status = text.write(look, identity(now), before, now);
    JsonNode worth = writer.worth(status);
    if (!worth.equals(written) || !lastWrite.plus(heartbeat).isAfter(now)) {
      before = writer.write(status).getStatus();
      written = worth;
      lastWrite = now;
    }
  }

  private AgentIdentity identity(Instant now) {
    return new AgentIdentity(
        identity.version(),
        identity.pod(),
        identity.startTime(),
        now,
        identity.transferAddress(),
        identity.certificate());
  }

  @Override
  public void close() {
    thread.shutdownNow();
    finder.close();
  }
}
