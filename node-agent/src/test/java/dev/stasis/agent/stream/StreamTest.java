package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

@Tag("jvm")
class StreamTest extends TwoAgents {

  @Test
  void everyFileArrivesAsItIsWithItsHoles() throws Exception {
    SendQueue outbound = new SendQueue();
    long allocated = writeArtifact();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      sender(outbound, address(receiver.port()), 4, 0).run();

      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertSame("manifest.json");
    assertSame("regions/7.data");
    assertSame("criu/pages-1.img");
    assertSame("criu/empty.img");
    assertThat((long) Files.getAttribute(to.resolve("regions/7.data"), "unix:size"))
        .isEqualTo(40L << 20);
    assertThat(blocks(to.resolve("regions/7.data"))).isLessThan(allocated);
    long[] progress = outbound.progress();
    assertThat(progress[0]).isEqualTo(progress[1]);
  }

  @Test
  void everyFileArrivesInMemoryToo(@TempDir(factory = InMemory.class) Path memory)
      throws Exception {
    SendQueue outbound = new SendQueue();
    long allocated = writeArtifact();
    addArtifact(outbound);
    outbound.complete();
    to = memory;
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      sender(outbound, address(receiver.port()), 4, 0).run();

      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertSame("criu/pages-1.img");
    assertSame("regions/7.data");
    assertThat(blocks(to.resolve("regions/7.data"))).isLessThan(allocated);
  }

  /** Where stores of a node's memory lie. */
  static final class InMemory implements TempDirFactory {
    @Override
    public Path createTempDirectory(
        AnnotatedElementContext elementContext, ExtensionContext extensionContext)
        throws IOException {
      return Files.createTempDirectory(Path.of("/dev/shm"), "stasis-stream-test");
    }
  }

  @Test
  void filesMayBeAddedWhileOthersAreOnTheirWay() throws Exception {
    writeArtifact();
    SendQueue outbound = new SendQueue();
    add(outbound, "criu/pages-1.img");
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      CompletableFuture<Void> sent = inBackground(sender(outbound, address(receiver.port()), 2, 0));
      assertThat(expected.await(Duration.ofMillis(100))).isFalse();
      add(outbound, "manifest.json");
      outbound.complete();
      sent.get(60, TimeUnit.SECONDS);

      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertSame("manifest.json");
    assertSame("criu/pages-1.img");
  }

  @Test
  void aFileIsSentWhileItGrowsAndWhileItsFolderIsRenamed() throws Exception {
    writeArtifact();
    byte[] data = Files.readAllBytes(from.resolve("criu/pages-1.img"));
    Path growing = from.resolve("regions/9.data");
    SendQueue outbound = new SendQueue();
    ArtifactFeed feed = new ArtifactFeed(outbound);
    Path renamed = folder.resolve("published");
    try (outbound;
        StreamReceiver.Expected expected =
            receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      feed.begins(from);
      CompletableFuture<Void> sent = inBackground(sender(outbound, address(receiver.port()), 2, 0));
      Files.write(growing, Arrays.copyOf(data, 9 << 20));
      feed.grew(growing, 9 << 20);
      // The first two blocks of four MiB; of the third it is not known where it ends.
      // The receiver counts a block before the sender does, so both are waited for.
      while (expected.bytes() < 8 << 20 || outbound.progress()[0] < 8 << 20) {
        assertThat(expected.await(Duration.ofMillis(10))).isFalse();
      }
      assertThat(outbound.progress()).containsExactly(8L << 20, 0);
      feed.finished(from.resolve("criu"));
      Files.write(growing, data);
      Files.writeString(from.resolve("manifest.json.sha256"), "digest");
      Files.move(from, renamed);
      feed.whole(renamed);
      feed.whole(renamed);
      sent.get(60, TimeUnit.SECONDS);

      assertThat(expected.await(ENOUGH)).isTrue();
      assertThat(outbound.progress()[0]).isEqualTo(outbound.progress()[1]);
    }
    from = renamed;
    for (String name :
        List.of("regions/9.data", "regions/7.data", "criu/pages-1.img", "manifest.json")) {
      assertSame(name);
    }
  }

  @Test
  void theBeginningOfASmallFileArrivesBeforeTheRest() throws Exception {
    writeArtifact();
    Path table = Files.createDirectory(from.resolve("device")).resolve("1.chunks");
    BlockingQueue<String> arrived = new LinkedBlockingQueue<>();
    SendQueue outbound = new SendQueue();
    ArtifactFeed feed = new ArtifactFeed(outbound);
    try (outbound;
        StreamReceiver.Expected expected =
            receiver.expect(
                ID,
                source.pem(),
                to,
                ROOM,
                (file, offset, length) -> arrived.add(file + " " + offset + " " + length))) {
      feed.begins(from);
      CompletableFuture<Void> sent = inBackground(sender(outbound, address(receiver.port()), 2, 0));
      Files.writeString(table, "regions");
      feed.grew(table, 7);
      assertThat(arrived.poll(30, TimeUnit.SECONDS)).isEqualTo("device/1.chunks 0 7");
      assertThat(to.resolve("device/1.chunks")).hasContent("regions");

      Files.writeString(table, "regions and chunks");
      Files.writeString(from.resolve("manifest.json.sha256"), "digest");
      feed.whole(from);
      sent.get(60, TimeUnit.SECONDS);
      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertThat(arrived).contains("device/1.chunks 7 11");
    assertSame("device/1.chunks");
  }

  @Test
  void aFileThatWasCalledFinalAndChangesIsNotSent() throws Exception {
    writeArtifact();
    SendQueue outbound = new SendQueue();
    ArtifactFeed feed = new ArtifactFeed(outbound);
    try (outbound) {
      feed.begins(from);
      feed.finished(from.resolve("criu"));
      Files.writeString(from.resolve("criu/empty.img"), "not empty");

      assertThatThrownBy(() -> feed.finished(from.resolve("criu")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("criu/empty.img: expected 0 bytes as announced before, got 9");
    }
  }

  @Test
  void aBrokenConnectionIsTakenUpAgainAndNothingIsMissing() throws Exception {
    writeArtifact();
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected =
            receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE);
        CutLine line = new CutLine(receiver.port(), 5 << 20, 6)) {
      StreamSender sender = sender(outbound, line.address(), 2, 0);
      sender.run();

      assertThat(line.cuts()).isGreaterThanOrEqualTo(2);
      assertThat(sender.reconnects()).isPositive();
      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertSame("regions/7.data");
    assertSame("criu/pages-1.img");
  }

  @Test
  void aPeerThatFallsSilentWithoutAWordIsTakenForBroken() throws Exception {
    writeArtifact();
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected =
            receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE);
        CutLine line = new CutLine(receiver.port(), 5 << 20, 3).stalling()) {
      StreamSender sender = sender(outbound, line.address(), 2, 0);
      sender.run();

      assertThat(line.cuts()).isPositive();
      assertThat(sender.reconnects()).isPositive();
      assertThat(expected.await(ENOUGH)).isTrue();
    }
    assertSame("regions/7.data");
  }

  @Test
  void aPortThatIsTakenIsSaidAndNothingStaysOpen() {
    assertThatThrownBy(
            () ->
                new StreamReceiver(
                    target,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), receiver.port())))
        .isInstanceOf(BindException.class);
  }

  @Test
  void aPeerThatStaysOutOfReachIsToldWithTheLastError() throws Exception {
    writeArtifact();
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();
    int port = receiver.port();
    receiver.close();

    assertThatThrownBy(() -> sender(outbound, address(port), 2, 0, Duration.ofSeconds(1)).run())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("expected an answer within 1 s")
        .hasMessageContaining("refused");
  }

  @Test
  void aSourceThatCannotBeReadEndsTheTransferWithItsName() throws Exception {
    SendQueue outbound = new SendQueue();
    outbound.from(from);
    outbound.add("criu/gone", 10);
    outbound.complete();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      assertThatThrownBy(() -> sender(ID, outbound).run()).hasMessageContaining("gone");
      assertThat(expected.await(Duration.ZERO)).isFalse();
    }
  }

  @Test
  void aTransferThatIsEndedFromOutsideEndsAtOnce() throws Exception {
    SendQueue outbound = new SendQueue();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      CompletableFuture<Void> sent = inBackground(sender(ID, outbound));
      outbound.fail("cancelled by its user");

      assertThat(sent).failsWithin(ENOUGH).withThrowableThat().withMessageContaining("cancelled");
      assertThat(expected.await(Duration.ZERO)).isFalse();
    }
  }

  private static long blocks(Path file) throws Exception {
    Process stat =
        new ProcessBuilder("stat", "-c", "%b", file.toString()).redirectErrorStream(true).start();
    String text = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(stat.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return Long.parseLong(text.trim());
  }

  private void assertSame(String name) throws IOException {
    assertThat(Files.mismatch(from.resolve(name), to.resolve(name))).as(name).isEqualTo(-1);
  }

  private static CompletableFuture<Void> inBackground(StreamSender sender) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                sender.run();
                ended.complete(null);
              } catch (IOException | InterruptedException e) {
                ended.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return ended;
  }
}
