package dev.stasis.agent.stream;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An agent that sends and one that receives, and an artifact between them. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class TwoAgents {
  /** Long for two ends on one machine, short for whoever waits for a test. */
  private static final Duration SILENCE = Duration.ofSeconds(2);

  /** More than any of these artifacts has. */
  static final long ROOM = 1L << 30;

  static final String ID = "m";
  static final Duration ENOUGH = Duration.ofSeconds(60);

  @TempDir Path folder;
  final AgentKey source = AgentKey.generate("node1", Clock.systemUTC());
  final AgentKey target = AgentKey.generate("node2", Clock.systemUTC());
  StreamReceiver receiver;
  Path from;
  Path to;

  @BeforeEach
  void listen() throws IOException {
    receiver =
        new StreamReceiver(target, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    from = Files.createDirectory(folder.resolve("from"));
    to = Files.createDirectory(folder.resolve("to"));
  }

  @AfterEach
  void hangUp() throws IOException {
    receiver.close();
  }

  long writeArtifact() throws IOException {
    Random random = new Random(7);
    for (String sub : new String[] {"criu", "layer", "regions"}) {
      Files.createDirectory(from.resolve(sub));
    }
    Files.writeString(from.resolve("manifest.json"), "{}", StandardCharsets.UTF_8);
    Files.createFile(from.resolve("criu/empty.img"));
    byte[] pages = new byte[(17 << 20) + 123];
    random.nextBytes(pages);
    Files.write(from.resolve("criu/pages-1.img"), pages);
    try (RandomAccessFile data =
        new RandomAccessFile(from.resolve("regions/7.data").toFile(), "rw")) {
      data.setLength(40L << 20);
      data.seek(9L << 20);
      data.write(pages, 0, 5 << 20);
    }
    return 40L << 11;
  }

  void addArtifact(SendQueue outbound) throws IOException {
    for (String name :
        new String[] {"criu/pages-1.img", "criu/empty.img", "regions/7.data", "manifest.json"}) {
      add(outbound, name);
    }
  }

  void add(SendQueue outbound, String name) throws IOException {
    outbound.from(from);
    outbound.add(name, Files.size(from.resolve(name)));
  }

  static InetSocketAddress address(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  StreamSender sender(String id, SendQueue outbound) throws IOException {
    return new StreamSender(
        source,
        address(receiver.port()),
        target.pem(),
        id,
        outbound,
        new StreamSender.Options(2, 0, Duration.ofSeconds(20), SILENCE),
        System::nanoTime);
  }

  StreamSender sender(SendQueue outbound, InetSocketAddress peer, int streams, long rate)
      throws IOException {
    return sender(outbound, peer, streams, rate, Duration.ofSeconds(20));
  }

  StreamSender sender(
      SendQueue outbound, InetSocketAddress peer, int streams, long rate, Duration patience)
      throws IOException {
    return new StreamSender(
        source,
        peer,
        target.pem(),
        ID,
        outbound,
        new StreamSender.Options(streams, rate, patience, SILENCE),
        System::nanoTime);
  }
}
