package dev.stasis.e2e.bench;

import dev.stasis.agent.engine.StageListener;
import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.BlockListener;
import dev.stasis.agent.stream.SendQueue;
import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.agent.stream.StreamSender;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Sends an artifact over the loopback into another store while it is being written. */
final class AheadRun implements StageListener, AutoCloseable {

  /** The connection does not break here; longer than any disk takes for the blocks in flight. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String ID = "benchmark";

  private final SendQueue outbound = new SendQueue();
  private final ArtifactFeed feed = new ArtifactFeed(outbound);
  private final ArtifactStage stage;
  private final StreamReceiver receiver;
  private final StreamReceiver.Expected expected;
  private final CompletableFuture<Void> sent = new CompletableFuture<>();

  /** Connects both ends, as before a freeze. */
  AheadRun(Clock clock, Path store, String name, int streams)
      throws IOException, InterruptedException {
    AgentKey source = AgentKey.generate("source", clock);
    AgentKey target = AgentKey.generate("target", clock);
    stage = new ArtifactStore(store, clock).stage(name);
    receiver =
        new StreamReceiver(target, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    expected =
        receiver.expect(ID, source.pem(), stage.folder(), Long.MAX_VALUE, BlockListener.NONE);
    StreamSender sender =
        new StreamSender(
            source,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), receiver.port()),
            target.pem(),
            ID,
            outbound,
            new StreamSender.Options(streams, 0, PATIENCE, PATIENCE),
            System::nanoTime);
    Thread thread = new Thread(() -> run(sender), "ahead");
    thread.setDaemon(true);
    thread.start();
    if (!sender.awaitConnected(PATIENCE)) {
      throw new IOException("streams: expected connected streams, got unconnected ones");
    }
  }

  private void run(StreamSender sender) {
    try {
      sender.run();
      sent.complete(null);
    } catch (IOException | InterruptedException | RuntimeException e) {
      sent.completeExceptionally(e);
    }
  }

  @Override
  public synchronized void begins(Path folder) {
    told(() -> feed.begins(folder));
  }

  @Override
  public synchronized void grew(Path file, long bytes) {
    feed.grew(file, bytes);
  }

  @Override
  public synchronized void finished(Path folder) {
    told(() -> feed.finished(folder));
  }

  private interface Word {
    void say() throws IOException;
  }

  private static void told(Word word) {
    try {
      word.say();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the whole artifact is in the other store; returns its path there. */
  Path finish(Path artifact) throws IOException, InterruptedException {
    synchronized (this) {
      feed.whole(artifact);
    }
    try {
      sent.get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
    if (!expected.await(PATIENCE)) {
      throw new IOException(
          "receiver: expected the complete artifact, got a transfer that is still waiting");
    }
    return stage.sealReceived(null).path();
  }

  @Override
  public void close() throws IOException {
    outbound.fail("the run has ended");
    expected.close();
    receiver.close();
    stage.close();
    outbound.close();
  }
}
