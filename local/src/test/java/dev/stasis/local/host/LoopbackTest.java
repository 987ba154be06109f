package dev.stasis.local.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With network namespaces of this machine. */
class LoopbackTest {

  @TempDir Path folder;

  private final HostProgram host = new HostProgram();
  private Path namespace;

  @BeforeEach
  void make() throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "needs root");
    namespace = Files.createFile(folder.resolve("network"));
    host.must("unshare", "--net=" + namespace, "true");
  }

  @AfterEach
  void remove() {
    if (namespace != null) {
      host.attempt("umount", "-l", namespace.toString());
    }
  }

  @Test
  void aPodReachesItselfOnAMachineWithoutIproute2() throws IOException {
    assertThat(reachesItself()).isFalse();

    new Loopback().up(namespace);
    assertThat(reachesItself()).isTrue();

    new Loopback().up(namespace);
    assertThat(reachesItself()).isTrue();
  }

  @Test
  void ourOwnNetworkStaysWhatItIs() throws IOException {
    Path own = Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
    new Loopback().up(namespace);

    assertThat(Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net"))).isEqualTo(own);
  }

  @Test
  void aFileThatIsNoNamespaceIsReported() throws IOException {
    Path plain = Files.createFile(folder.resolve("plain"));

    assertThatThrownBy(() -> new Loopback().up(plain))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(plain.toString());
    Files.delete(plain);
  }

  private boolean reachesItself() {
    HostProgram.Result result =
        host.run(
            Duration.ofSeconds(60), // it says so at once; a busy machine is given time
            List.of("nsenter", "--net=" + namespace, "bash", "-c", "exec 3<>/dev/udp/127.0.0.1/9"));
    return result instanceof HostProgram.Result.Ended ended && ended.code() == 0;
  }
}
