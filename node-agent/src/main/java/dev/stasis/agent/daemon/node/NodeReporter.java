package dev.stasis.agent.daemon.node;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeSpec;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
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
 * Keeps the GpuNode up to date: at the start, after every change, and as a heartbeat. It is not
 * written if its content would be the same.
 */
public final class NodeReporter implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(NodeReporter.class.getName());

  /** After a failed write; limits the rate of requests to the API server. */
  private static final Duration AGAIN = Duration.ofSeconds(5);

  /**
   * An observation queries driver, criu and sockets, each with a deadline; this is the limit of all
   * together.
   */
  private static final Duration STUCK = Duration.ofMinutes(5);

  private final NodeFinder finder;
  private final GpuNodeWriter writer;
  private final GpuNodeText text = new GpuNodeText();
  private final AgentIdentity identity;
  private final Duration heartbeat;
  private final Clock clock;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("gpu-node"));
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

  public void start() {
    nudge();
    var unused =
        thread.scheduleWithFixedDelay(
            this::nudge, heartbeat.toMillis(), heartbeat.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Something may have changed: observes again soon, once for any number of calls. */
  public void nudge() {
    if (nudged.compareAndSet(false, true)) {
      try {
        thread.execute(this::round);
      } catch (RejectedExecutionException e) {
        LOG.log(Level.DEBUG, "the agent is stopping: no further reports");
      }
    }
  }

  /** Why the GpuNode could not be written; empty if it was. */
  public Optional<String> trouble() {
    return trouble;
  }

  /** Returns whether observations of the node still complete. */
  public boolean isAlive() {
    return lastLook.plus(heartbeat).plus(STUCK).isAfter(clock.instant());
  }

  private void round() {
    nudged.set(false);
    try {
      report();
      trouble = Optional.empty();
    } catch (KubernetesClientException | IOException e) {
      again("GpuNode: expected a successful write, got " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException e) {
      if (thread.isShutdown()) {
        return;
      }
      LOG.log(Level.ERROR, "GpuNode: observing the node failed", e);
      again("GpuNode: expected an observation of the node, got " + e);
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

  /** The node's GpuNode in the cluster. The agent is its only writer, so no merge is needed. */
  static final class GpuNodeWriter {

    private final KubernetesClient client;
    private final String name;

    GpuNodeWriter(KubernetesClient client, String name) {
      this.client = client;
      this.name = name;
    }

    /** Returns its current state. */
    Optional<GpuNode> read() {
      return Optional.ofNullable(resource().get());
    }

    /** Creates the object if it is missing, and writes its status. */
    GpuNode write(GpuNodeStatus status) {
      GpuNode node = read().orElseGet(this::make);
      node.setStatus(status);
      return client.resource(node).updateStatus();
    }

    private GpuNode make() {
      GpuNode node = new GpuNode();
      node.setMetadata(new ObjectMetaBuilder().withName(name).build());
      node.setSpec(new GpuNodeSpec());
      return client.resource(node).create();
    }

    /** The parts of a status that justify a write: not times, and not the free space of a disk. */
    JsonNode worth(@Nullable GpuNodeStatus status) {
      KubernetesSerialization json = client.getKubernetesSerialization();
      JsonNode tree =
          json.convertValue(status == null ? new GpuNodeStatus() : status, JsonNode.class);
      if (tree.path("agent") instanceof ObjectNode agent) {
        agent.remove("heartbeatTime");
      }
      for (JsonNode store : tree.path("stores")) {
        if (store instanceof ObjectNode object) {
          object.remove(java.util.List.of("freeBytes", "free", "usedBytes"));
        }
      }
      return tree;
    }

    private Resource<GpuNode> resource() {
      return client.resources(GpuNode.class).withName(name);
    }
  }
}
