package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.stasis.agent.daemon.remote.NoClaims;
import dev.stasis.agent.daemon.remote.RemoteStores;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A sweep that fails in one place continues in the others, and is repeated. */
class StoreSweepsTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  @SuppressWarnings("NullAway.Init")
  private HttpServer server;

  @SuppressWarnings("NullAway.Init")
  private KubernetesClient client;

  private volatile String stores = "";

  @BeforeEach
  void anApiServerWithStores() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          boolean known = exchange.getRequestURI().getPath().endsWith("/gpucheckpointstores");
          byte[] answer = stores.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(known && answer.length > 0 ? 200 : 500, 0);
          exchange.getResponseBody().write(known ? answer : new byte[0]);
          exchange.close();
        });
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  private StoreSweeps sweeps() {
    Clock clock = Clock.systemUTC();
    return new StoreSweeps(
        client,
        new ArtifactSweep(Duration.ofHours(1), artifact -> false, clock),
        new StagingSweep(artifact -> false, clock),
        new RemoteStores(name -> Map.of(), new NoClaims(), clock),
        artifact -> false,
        "node1",
        clock);
  }

  private void have(String... specs) {
    StringBuilder items = new StringBuilder();
    for (String spec : specs) {
      items.append(items.isEmpty() ? "" : ",");
      items.append(
          """
          {"apiVersion": "stasis.dev/v1beta1", "kind": "GpuCheckpointStore",
           "metadata": {"name": "store", "uid": "u"}, "spec": %s}\
          """
              .formatted(spec));
    }
    stores =
        """
        {"apiVersion": "stasis.dev/v1beta1", "kind": "GpuCheckpointStoreList",
         "metadata": {}, "items": [%s]}"""
            .formatted(items);
  }

  /** The staging folder of a writer that ended before this machine started. */
  private Path leftover(String store) throws IOException {
    Path namespace = Files.createDirectories(folder.resolve(store).resolve("ml"));
    Path staging = Files.createDirectory(namespace.resolve(".staging-a-0123456789ab"));
    String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
    Files.writeString(
        namespace.resolve(staging.getFileName() + ".owner"), host + " boot-before 1 1\n");
    return staging;
  }

  private String local(String store) {
    return "{\"location\": {\"nodeLocal\": {\"path\": \"%s\"}}}".formatted(folder.resolve(store));
  }

  @Test
  void aSweepOfEveryStoreNeedsNoRepetition() throws IOException {
    Path one = leftover("one");
    Path two = leftover("two");
    have(local("one"), local("two"));

    assertThat(sweeps().all()).isTrue();
    assertThat(one).doesNotExist();
    assertThat(two).doesNotExist();
  }

  @Test
  void aRemoteStoreThatCannotBeReachedDelaysNoOtherStore() throws IOException {
    Path here = leftover("here");
    Path local = Files.createDirectories(folder.resolve("copies/ml"));
    have(
        """
        {"location": {"sharedPath": {"path": "%s", "layout": "Chunks"}},
         "options": {"localPath": "%s"}}
        """
            .formatted(folder.resolve("not-mounted"), local.getParent()),
        local("here"));

    assertThat(sweeps().all()).isFalse();
    assertThat(here).doesNotExist();
  }

  @Test
  void withoutAnAnswerFromTheApiServerTheSweepIsRepeated() throws IOException {
    Path here = leftover("here");

    assertThat(sweeps().all()).isFalse();
    assertThat(here).exists();
  }
}
