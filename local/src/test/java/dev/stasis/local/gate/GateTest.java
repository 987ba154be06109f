package dev.stasis.local.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.local.api.LocalApiServer;
import dev.stasis.local.host.HostProgram;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real kubectl at the door. */
class GateTest {

  /** kubectl takes a second; a loaded machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(180);

  private static final String CHECKPOINT =
      """
      apiVersion: stasis.dev/v1beta1
      kind: GpuCheckpoint
      metadata: {name: train-1}
      spec: {podRef: {name: trainer}}
      """;

  @TempDir private Path folder;

  @SuppressWarnings("NullAway.Init") // made before each test
  private LocalApiServer server;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KubernetesClient client;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Gate gate;

  @BeforeEach
  void open() throws IOException {
    assumeTrue(
        new HostProgram().attempt("sh", "-c", "command -v kubectl"),
        "there is no kubectl on this machine");
    server = new LocalApiServer();
    client = server.client();
    Path log = Files.writeString(folder.resolve("log"), "one\ntwo\n");
    gate =
        new Gate(
            server,
            client,
            (namespace, pod, container) -> Optional.of(new PodLogs.Log(log, 1L << 22)),
            0,
            Clock.systemUTC());
  }

  @AfterEach
  void close() {
    gate.close();
    client.close();
    server.close();
  }

  private String kubectl(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "env",
                "KUBECONFIG=/dev/null",
                "HOME=" + folder,
                "kubectl",
                "--server=" + gate.url(),
                "--request-timeout=90s"));
    command.addAll(List.of(arguments));
    HostProgram.Result result = new HostProgram().run(LIMIT, command);
    assertThat(result)
        .isInstanceOfSatisfying(
            HostProgram.Result.Ended.class,
            ended -> assertThat(ended.code()).as(ended.output()).isZero());
    return ((HostProgram.Result.Ended) result).output();
  }

  @Test
  void aWatchFromAnExpiredVersionReportsDeletions() throws Exception {
    String path =
        "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=60&resourceVersion=7"
            + "&fieldSelector=metadata.name%3Dtrainer";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(gate.url() + path)).timeout(LIMIT).build();
    try (InputStream body =
            HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofInputStream())
                .body();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).contains("\"DELETED\"", "\"Pod\"", "\"trainer\"");
    }
  }

  @Test
  void kubectlAppliesShowsWaitsAndDeletes() throws IOException {
    Path file = Files.writeString(folder.resolve("checkpoint.yaml"), CHECKPOINT);
    assertThat(kubectl("apply", "-f", file.toString())).contains("gpucheckpoint", "created");
    assertThat(kubectl("apply", "-f", file.toString())).contains("unchanged");
    String status = "{\"status\":{\"phase\":\"Ready\",\"conditions\":[%s]}}";
    String condition =
        "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"ArtifactVerified\","
            + "\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}";
    kubectl(
        "patch",
        "gckpt",
        "train-1",
        "--subresource=status",
        "--type=merge",
        "-p",
        status.formatted(condition));
    assertThat(kubectl("get", "gckpt")).contains("NAME", "POD", "PHASE", "trainer", "Ready");
    assertThat(kubectl("wait", "gckpt/train-1", "--for=condition=Ready", "--timeout=60s"))
        .contains("condition met");
    assertThat(kubectl("get", "gckpt", "train-1", "-o", "jsonpath={.spec.afterCheckpoint}"))
        .isEqualTo("Resume");
    client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("trainer")
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("main")
                .endContainer()
                .endSpec()
                .build())
        .create();
    assertThat(kubectl("get", "pods")).contains("0/1", "Pending");
    assertThat(kubectl("logs", "trainer", "--tail=1")).isEqualTo("two\n");
    event("train-1", "its own story");
    event("another", "another story");
    assertThat(kubectl("describe", "gckpt", "train-1"))
        .contains("its own story")
        .doesNotContain("another story");
    assertThat(kubectl("delete", "gckpt", "train-1", "--timeout=60s")).contains("deleted");
    assertThat(kubectl("get", "stasis")).contains("No resources found");
  }

  private void event(String about, String message) {
    client
        .resource(
            new EventBuilder()
                .withNewMetadata()
                .withGenerateName(about + ".")
                .withNamespace("default")
                .endMetadata()
                .withNewInvolvedObject()
                .withKind("GpuCheckpoint")
                .withNamespace("default")
                .withName(about)
                .withUid(
                    about.equals("train-1")
                        ? kubectl("get", "gckpt", about, "-o", "jsonpath={.metadata.uid}")
                        : "")
                .endInvolvedObject()
                .withReason("Told")
                .withMessage(message)
                .withType("Normal")
                .build())
        .create();
  }

  @Test
  void aUserOtherThanRootIsRefused() {
    HostProgram.Result result =
        new HostProgram()
            .run(
                LIMIT,
                List.of(
                    "setpriv",
                    "--reuid=65534",
                    "--clear-groups",
                    "kubectl",
                    "--kubeconfig=/dev/null",
                    "--server=" + gate.url(),
                    "get",
                    "--raw",
                    "/api/v1/pods"));
    assertThat(result)
        .isInstanceOfSatisfying(
            HostProgram.Result.Ended.class,
            ended -> {
              assertThat(ended.code()).as(ended.output()).isNotZero();
              assertThat(ended.output()).contains("user: expected root");
            });
  }
}
