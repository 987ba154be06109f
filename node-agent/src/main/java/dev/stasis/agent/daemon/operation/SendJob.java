package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.SendQueue;
import dev.stasis.agent.stream.StreamSender;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Send: streams an artifact of this node to another agent, even one that is still being written.
 * The artifact is not changed.
 */
final class SendJob implements Job {

  /** Each stream uses a core at both ends, and half of the cores are for the node's own work. */
  private static final int STREAMS =
      Math.max(4, Math.min(16, Runtime.getRuntime().availableProcessors() / 2));

  /** A switch or an agent that restarts is back by then. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Much longer than the slowest disk takes for the data in flight on one stream: 32 MiB. */
  private static final Duration SILENCE = Duration.ofSeconds(30);

  /** Interval of progress reports: that of status writes. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Executor workers;
  private final UnfinishedArtifacts unfinished;

  SendJob(
      AgentParts parts,
      OperationRecorder recorder,
      Executor workers,
      UnfinishedArtifacts unfinished) {
    this.unfinished = unfinished;
    this.parts = parts;
    this.recorder = recorder;
    this.workers = workers;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = operation.artifact();
    TransferOrder order = Objects.requireNonNull(operation.spec().getTransfer());
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact);
    SendQueue outbound = new SendQueue();
    try (outbound) {
      feed(order, artifact, where, outbound);
      return send(operation, order, outbound);
    } finally {
      unfinished.forget(outbound);
    }
  }

  private OperationResult send(ActiveOperation operation, TransferOrder order, SendQueue outbound)
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
    recorder.begin(operation);
    CompletableFuture<String> sent = CompletableFuture.supplyAsync(() -> run(sender), workers);
    String failure = await(operation, outbound, sent);
    long bytes = outbound.progress()[1];
    if (failure.isEmpty()) {
      return OperationResult.done(
              "Sent", new HumanBytes(bytes).text() + " are on " + order.getPeer().nodeName())
          .with(status -> status.setReconnects(sender.reconnects()));
    }
    String reason = operation.isCancelled() ? "Cancelled" : "TransferFailed";
    return OperationResult.failed(Outcome.UNDONE, Faults.inStep(reason, "send", failure))
        .with(status -> status.setReconnects(sender.reconnects()));
  }

  /** Returns the sender's failure in one sentence; empty if everything has arrived. */
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

  private String await(
      ActiveOperation operation, SendQueue outbound, CompletableFuture<String> sent)
      throws InterruptedException {
    Throughput throughput = new Throughput(recorder, "send", System::nanoTime);
    while (true) {
      try {
        return sent.get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        long[] progress = outbound.progress();
        throughput.report(operation, progress[0], progress[1]);
        if (operation.isCancelled()) {
          outbound.fail("the transfer was cancelled");
        } else if (operation.isOverdue()) {
          outbound.fail("the deadline passed during the transfer");
        }
      } catch (ExecutionException e) {
        return String.valueOf(e.getCause());
      }
    }
  }

  /** Everything if it is complete; otherwise what exists, and the rest as it is written. */
  private void feed(
      TransferOrder order, ArtifactReference artifact, ArtifactPlace where, SendQueue outbound)
      throws Refused, IOException {
    if (Boolean.TRUE.equals(order.getAhead())) {
      unfinished.follow(where.path(), artifact.uid(), outbound);
      if (!where.exists()) {
        return;
      }
    }
    where.requireOurs(
        ArtifactPlace.require(new ArtifactReader(1, Progress.NONE).inspect(where.path()))
            .manifest());
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
      // It is refused later, with the facts.
    }
    throw new Refused("PreflightRefused", "transfer.peer.address", "ADDRESS:PORT", text);
  }
}
