package dev.stasis.agent.direct;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.process.ProcFs;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a socket as of a running keeper; none can be started. */
class KeepersTest {

  private static final String CONTAINER = "0123456789abcdef0123";

  @TempDir Path folder;

  /** Two keepers of a container would both hold its memory. */
  @Test
  void anInterruptedThreadStartsNoSecondKeeper() throws Exception {
    Path none = folder.resolve("none");
    Keepers keepers = new Keepers(KeeperSettings.of(none), none, folder, new ProcFs());
    try (ServerSocketChannel running = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      running.bind(UnixDomainSocketAddress.of(folder.resolve("k-" + CONTAINER)));

      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> keepers.open(CONTAINER)).isInstanceOf(InterruptedException.class);

      keepers.open(CONTAINER).close();
    }
  }
}
