package dev.stasis.e2e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.BlockListener;
import dev.stasis.agent.stream.SendQueue;
import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.agent.stream.StreamSender;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** Sends an artifact from one agent to another over the loopback, both in this process. */
final class StreamRuns {

  /** The connection does not break here; longer than any disk takes for the blocks in flight. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Clock clock;

  StreamRuns(Clock clock) {
    this.clock = clock;
  }

  /** As a Send and a Receive do it. */
  void send(JsonNode asked, ObjectNode answer) throws IOException, InterruptedException {
    Path artifact = Path.of(asked.path("artifact").asText());
    AgentKey source = AgentKey.generate("source", clock);
    AgentKey target = AgentKey.generate("target", clock);
    String name = artifact.getFileName().toString();
    long begin = System.nanoTime();
    SendQueue outbound = new SendQueue();
    new ArtifactFeed(outbound).whole(artifact);
    try (ArtifactStage stage =
            new ArtifactStore(Path.of(asked.path("store").asText()), clock).stage(name);
        StreamReceiver receiver =
            new StreamReceiver(target, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        StreamReceiver.Expected expected =
            receiver.expect(
                "benchmark", source.pem(), stage.folder(), Long.MAX_VALUE, BlockListener.NONE)) {
      new StreamSender(
              source,
              new InetSocketAddress(InetAddress.getLoopbackAddress(), receiver.port()),
              target.pem(),
              "benchmark",
              outbound,
              new StreamSender.Options(asked.path("streams").asInt(), 0, PATIENCE, PATIENCE),
              System::nanoTime)
          .run();
      if (!expected.await(PATIENCE)) {
        throw new IOException(
            "receiver: expected the complete artifact, got a transfer that is still waiting");
      }
      Path received = stage.sealReceived(sha256(artifact.resolve("manifest.json"))).path();
      answer.put("outcome", "Received").put("artifact", received.toString());
    }
    answer.put("millis", (System.nanoTime() - begin) / 1e6);
    answer.put("bytes", outbound.progress()[1]);
  }

  /** The same files over the same number of plain connections, for comparison. */
  void copy(JsonNode asked, ObjectNode answer) throws IOException, InterruptedException {
    Path from = Path.of(asked.path("from").asText());
    Path to = Path.of(asked.path("to").asText());
    List<Path> files = Files.isDirectory(from) ? files(from) : List.of(from);
    Path root = Files.isDirectory(from) ? from : from.getParent();
    long begin = System.nanoTime();
    long bytes = 0;
    try (PlainCopy copy = new PlainCopy(asked.path("streams").asInt())) {
      for (Path file : files) {
        Path target = to.resolve(String.valueOf(root == null ? file : root.relativize(file)));
        Files.createDirectories(to.resolve(target).getParent());
        bytes += copy.file(file, target);
      }
    }
    answer.put("outcome", "Copied").put("bytes", bytes);
    answer.put("millis", (System.nanoTime() - begin) / 1e6);
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static String sha256(Path file) throws IOException {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is part of every Java platform", e);
    }
  }
}
