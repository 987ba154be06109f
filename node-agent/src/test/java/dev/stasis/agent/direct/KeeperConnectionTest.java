package dev.stasis.agent.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent's side of a save into a store that does not respond. */
class KeeperConnectionTest {

  private static final Duration WHOLE = Duration.ofMinutes(2);
  private static final Duration SILENCE = Duration.ofMillis(200);

  @SuppressWarnings("NullAway.Init")
  private KeeperConnection connection;

  @SuppressWarnings("NullAway.Init")
  private SocketChannel keeper;

  @BeforeEach
  void connect(@TempDir Path folder) throws IOException {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(folder.resolve("k"));
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      listener.bind(address);
      connection = new KeeperConnection(SocketChannel.open(address));
      keeper = listener.accept();
    }
  }

  @AfterEach
  void close() throws IOException {
    keeper.close();
    connection.close();
  }

  private void answer(String lines) throws IOException {
    keeper.write(ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void aSaveThatMakesNoProgressIsGivenUpAndItsEndIsAwaited() throws Exception {
    answer("at 8\n");

    assertThatThrownBy(() -> connection.ask(WHOLE, at -> at < 8 ? WHOLE : SILENCE, "save"))
        .isInstanceOfSatisfying(
            KeeperFailure.class,
            failure -> {
              assertThat(failure.connectionLost()).isTrue();
              assertThat(failure.isSilentStore()).as(failure.getMessage()).isTrue();
            });
    connection.giveUp();

    // The keeper learns of it, although its end is still to come.
    BufferedReader commands =
        new BufferedReader(
            new InputStreamReader(Channels.newInputStream(keeper), StandardCharsets.UTF_8));
    assertThat(commands.readLine()).isEqualTo("save");
    assertThat(commands.readLine()).isNull();
    connection.close();
    assertThat(connection.awaitEnd(SILENCE)).isFalse();
    answer("fail the store does not respond\n");
    keeper.close();
    assertThat(connection.awaitEnd(WHOLE)).isTrue();
    assertThat(connection.awaitEnd(WHOLE)).as("what else waits for it").isTrue();
  }

  @Test
  void aSaveThatMakesProgressIsAnswered() throws Exception {
    answer("at 8\nat 16\nok us=1 bytes=24\n");

    assertThat(connection.ask(WHOLE, at -> WHOLE, "save").values()).containsEntry("bytes", "24");
  }
}
