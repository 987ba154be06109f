package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.Outbound;
import dev.stasis.agent.stream.StreamSender;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.TransferOrder;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Send: streams an artifact of this node to another agent, also one that is still being made. The
 * artifact stays as it is.
 */
final class SendJob implements Job {

  /** Each is worth a core at both ends, and half of them are the node's own work. */
  private static final int STREAMS =
      Math.max(4, Math.min(8, Runtime.getRuntime().availableProcessors() / 2));

  /** A switch that starts anew, or an agent that does, is back by then. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Much longer than the slowest disk takes for what is on its way on one stream: 32 MiB. */
  private static final Duration SILENCE = Duration.ofSeconds(30);

  /** How often the bytes are looked at: as often as they may be written. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final AgentParts parts;
  private final Desk desk;
  private final Executor workers;
  private final UnfinishedArtifacts unfinished;

  SendJob(AgentParts parts, Desk desk, Executor workers, UnfinishedArtifacts unfinished) {
    this.unfinished = unfinished;
    this.parts = parts;
    this.desk = desk;
    this.workers = workers;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = Objects.requireNonNull(assignment.spec().getArtifact());
    TransferOrder order = Objects.requireNonNull(assignment.spec().getTransfer());
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(artifact, artifact.namespace());
    Outbound outbound = new Outbound();
    try (outbound) {
      feed(order, artifact, where, outbound);
      return send(assignment, order, outbound);
    } finally {
      unfinished.forget(outbound);
    }
  }

  private Ending send(Assignment assignment, TransferOrder order, Outbound outbound)
      throws Refused, IOException, InterruptedException {
    StreamSender sender =
        new StreamSender(
            parts.transfers().key(),
            address(order),
            order.getPeer().certificate(),
            order.getId(),
            outbound,
            new StreamSender.Options(
                order.getStreams() == null ? STREAMS : order.getStreams(),
                order.getMaxBytesPerSecond() == null ? 0 : order.getMaxBytesPerSecond(),
                PATIENCE,
                SILENCE),
            System::nanoTime);
    desk.begin(assignment);
    CompletableFuture<String> sent = new CompletableFuture<>();
    workers.execute(() -> sent.complete(run(sender)));
    String failure = await(assignment, outbound, sent);
    long bytes = outbound.progress()[1];
    if (failure.isEmpty()) {
      return Ending.done("Sent", HumanText.size(bytes) + " are on " + order.getPeer().nodeName())
          .with(status -> status.setReconnects(sender.reconnects()));
    }
    String reason = assignment.isCancelled() ? "Cancelled" : "TransferFailed";
    return Ending.failed(Outcome.UNDONE, Faults.inStep(reason, "send", failure))
        .with(status -> status.setReconnects(sender.reconnects()));
  }

  /** The sender's own failure in one sentence; empty when all of it arrived. */
  private static String run(StreamSender sender) {
    try {
      sender.run();
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private String await(Assignment assignment, Outbound outbound, CompletableFuture<String> sent)
      throws InterruptedException {
    Throughput throughput = new Throughput(desk, "send", System::nanoTime);
    while (true) {
      try {
        return sent.get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        long[] progress = outbound.progress();
        throughput.say(assignment, progress[0], progress[1]);
        if (assignment.isCancelled()) {
          outbound.fail("the transfer was cancelled");
        } else if (parts.clock().instant().isAfter(assignment.deadline())) {
          outbound.fail("the deadline passed during the transfer");
        }
      } catch (ExecutionException e) {
        return String.valueOf(e.getCause());
      }
    }
  }

  /** All of it if it is there, else what there is of it, and the rest as it is made. */
  private void feed(
      TransferOrder order, ArtifactReference artifact, ArtifactPlace where, Outbound outbound)
      throws Refused, IOException {
    if (Boolean.TRUE.equals(order.getAhead())) {
      unfinished.follow(where.path(), artifact.uid(), outbound);
      if (!Files.exists(where.path(), LinkOption.NOFOLLOW_LINKS)) {
        return;
      }
    }
    Opened opened = new ArtifactReader(1, (done, total) -> {}).inspect(where.path());
    if (opened instanceof Opened.Refused refused) {
      throw new Refused(
          Faults.of("ArtifactRefused", refused.property(), refused.wanted(), refused.found()));
    }
    OwnArtifact.require(artifact, ((Opened.Verified) opened).artifact().manifest());
    new ArtifactFeed(outbound).whole(where.path());
  }

  private static InetSocketAddress address(TransferOrder order) throws Refused {
    String text = Objects.requireNonNullElse(order.getPeer().address(), "");
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      String host = text.substring(0, Math.max(0, colon)).replaceAll("^\\[|\\]$", "");
      if (!host.isEmpty() && port > 0 && port < 65536) {
        return new InetSocketAddress(host, port);
      }
    } catch (NumberFormatException e) {
      // Refused below, with what was found.
    }
    throw new Refused(Faults.of("PreflightRefused", "transfer.peer.address", "ADDRESS:PORT", text));
  }
}
