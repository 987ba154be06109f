package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code kubectl explain} prints of the fields that most users need. */
@OnTestCluster
class ExplainApiServerTest {

  /** Lines of a terminal. */
  private static final int SCREEN = 40;

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static ApiServer server;

  @BeforeAll
  static void connect() {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "kubectl"))),
        "no kubectl: bin/with-kube brings one");
    server = ApiServer.fromEnvironment();
  }

  @AfterAll
  static void disconnect() {
    if (server != null) {
      server.close();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.stasis.api.crds.SchemaTest#definitionsOfUsers")
  void theFieldsOfASpecFitOnOneScreen(CustomResourceDefinition definition, @TempDir Path cache) {
    String spec = definition.getSpec().getNames().getPlural() + ".spec";
    // The API server publishes a schema some seconds after it serves the definition.
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () ->
                assertThat(explain(spec, cache))
                    .anyMatch(line -> line.startsWith("  " + SchemaFinish.OPTIONS))
                    .hasSizeLessThanOrEqualTo(SCREEN));
  }

  private static List<String> explain(String field, Path cache)
      throws IOException, InterruptedException {
    Process kubectl =
        new ProcessBuilder("kubectl", "explain", field, "--cache-dir=" + cache)
            .redirectErrorStream(true)
            .start();
    // As long as any other request to the server may take.
    assertThat(kubectl.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .toList();
  }
}
