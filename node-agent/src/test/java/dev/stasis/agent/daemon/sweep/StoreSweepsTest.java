package dev.stasis.agent.daemon.sweep;

import static java.nio.charset.StandardCharsets.UTF_8;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  private volatile String checkpoints = "";

  @BeforeEach
  void anApiServerWithStores() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] answer = answer(exchange.getRequestURI().getPath()).getBytes(UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(answer.length > 0 ? 200 : 500, 0);
          exchange.getResponseBody().write(answer);
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

  private String answer(String path) {
    String kind = path.substring(path.lastIndexOf('/') + 1);
    return switch (kind) {
      case "gpucheckpointstores" -> stores;
      case "gpucheckpoints" -> list("GpuCheckpointList", checkpoints);
      case "gpumigrations" -> list("GpuMigrationList", "");
      default -> "";
    };
  }

  private static String list(String kind, String items) {
    return """
        {"apiVersion": "stasis.dev/v1beta1", "kind": "%s", "metadata": {}, "items": [%s]}"""
        .formatted(kind, items);
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  private StoreSweeps sweeps() {
    return sweeps(Duration.ZERO);
  }

  private StoreSweeps sweeps(Duration later) {
    Clock clock = Clock.offset(Clock.systemUTC(), later);
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
    stores = list("GpuCheckpointStoreList", items.toString());
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

  /** A store with copies on this node, and one of them. */
  private Path copy() throws IOException {
    Path root = Files.createDirectories(folder.resolve("copies"));
    have(
        """
        {"location": {"sharedPath": {"path": "%s", "layout": "Chunks"}},
         "options": {"localPath": "%s", "localCopies": "1Gi", "minFree": "0"}}
        """
            .formatted(Files.createDirectories(folder.resolve("remote")), root));
    return SweptArtifacts.write(root, "ml", "uid-1", new byte[1]);
  }

  private static String evicted(String artifact, String condition) {
    return """
        {"apiVersion": "stasis.dev/v1beta1", "kind": "GpuCheckpoint",
         "metadata": {"name": "a", "namespace": "ml", "uid": "uid-1"},
         "spec": {"afterCheckpoint": "Evict"},
         "status": {"artifact": {"store": "store", "durability": "Remote"%s},
                    "conditions": [{"type": "Restorable", "status": "False", "message": "",
                                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                                    "reason": "%s"}]}}"""
        .formatted(artifact, condition);
  }

  /** Sweeps while the object exists, and after it has been gone for longer than the grace. */
  private void sweepUntilTheObjectIsGone(String checkpoint) {
    checkpoints = checkpoint;
    sweeps().all();
    checkpoints = "";
    sweeps(Duration.ofMinutes(61)).all();
  }

  @Test
  void theCopyOfAnEvictedWorkloadsStoredArtifactGoesAfterItsObject() throws IOException {
    Path copy = copy();
    checkpoints = evicted("", "NotRestored");
    assertThat(sweeps().all()).isTrue();
    checkpoints = "";
    assertThat(sweeps(Duration.ofMinutes(59)).all()).isTrue();
    assertThat(copy).exists();

    assertThat(sweeps(Duration.ofMinutes(61)).all()).isTrue();

    assertThat(copy).doesNotExist();
  }

  @Test
  void theOnlyArtifactOfAnEvictedWorkloadStays() throws IOException {
    Path copy = copy();

    sweepUntilTheObjectIsGone(evicted(", \"node\": \"node1\"", "Uploading"));

    assertThat(copy).exists();
  }

  @Test
  void theCopyOfADamagedArtifactStays() throws IOException {
    Path copy = copy();

    sweepUntilTheObjectIsGone(evicted("", "ArtifactDamaged"));

    assertThat(copy).exists();
  }

  /** It may be the only copy, and its object may be released while no agent answers. */
  @ParameterizedTest
  @CsvSource({
    "False, Evicted, true",
    "False, WorkloadLost, true",
    "Unknown, NodeSilent, true",
    "True, Resumed, false"
  })
  void theArtifactStaysUnlessTheWorkloadWasSeenToRun(String status, String reason, boolean stays)
      throws IOException {
    have(local("here"));
    Path artifact = SweptArtifacts.write(folder.resolve("here"), "ml", "uid-1", new byte[1]);

    sweepUntilTheObjectIsGone(
        """
        {"apiVersion": "stasis.dev/v1beta1", "kind": "GpuCheckpoint",
         "metadata": {"name": "a", "namespace": "ml", "uid": "uid-1"},
         "spec": {"afterCheckpoint": "Resume", "options": {"deletionPolicy": "Delete"}},
         "status": {"conditions": [{"type": "SourceRunning", "status": "%s", "message": "",
                                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                                    "reason": "%s"}]}}"""
            .formatted(status, reason));

    assertThat(Files.exists(artifact)).isEqualTo(stays);
  }
}
