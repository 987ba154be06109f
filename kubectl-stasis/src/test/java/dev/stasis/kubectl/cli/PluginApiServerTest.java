package dev.stasis.kubectl.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Kubectl;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The plugin with a real kubectl against the API server of the test cluster. */
@OnTestCluster(definitions = true)
class PluginApiServerTest {

  /** A second is usual; an API server that has just started takes longer. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private static final String NAMESPACE = "plugin-" + UUID.randomUUID().toString().substring(0, 8);
  private static final String NODE = NAMESPACE;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void create() throws Exception {
    if (!isThere()) {
      Assumptions.abort("no kubectl: bin/with-kube brings one");
    }
    kubectl("create", "namespace", NAMESPACE);
  }

  @AfterAll
  static void away() throws Exception {
    if (isThere()) {
      kubectl("delete", "namespace", NAMESPACE, "--wait=false", "--ignore-not-found");
      kubectl("delete", "gpunodes", NODE, "--ignore-not-found");
    }
  }

  @Test
  void aRequestedCheckpointIsListed() {
    assertThat(run("checkpoint", "trainer", "--name", "a-1", "-n", NAMESPACE)).isZero();
    assertThat(run("list", "-n", NAMESPACE)).isZero();
    assertThat(out.toString()).contains("gckpt/a-1 created").contains("gckpt/a-1   trainer");
    assertThat(run("list", "-n", NAMESPACE, "-o", "yaml")).isZero();
    assertThat(out.toString()).contains("podRef:\n      name: trainer");
  }

  @Test
  void onlyRequestsWithTheLabelsAreListed() throws Exception {
    assertThat(run("checkpoint", "trainer", "--name", "l-1", "-n", NAMESPACE)).isZero();
    assertThat(run("checkpoint", "trainer", "--name", "l-2", "-n", NAMESPACE)).isZero();
    kubectl("label", "gckpt", "l-1", "team=a", "-n", NAMESPACE);
    out.getBuffer().setLength(0);
    assertThat(run("list", "-n", NAMESPACE, "-l", "team=a")).isZero();
    assertThat(run("list", "-n", NAMESPACE, "-l", "team=a", "-o", "yaml")).isZero();
    assertThat(out.toString()).contains("gckpt/l-1").contains("name: l-1").doesNotContain("l-2");
  }

  @Test
  void aWatchedListShowsWhatChanges() throws Exception {
    assertThat(run("checkpoint", "trainer", "--name", "v-1", "-n", NAMESPACE)).isZero();
    kubectl("label", "gckpt", "v-1", "team=watched", "-n", NAMESPACE);
    Thread watch = new Thread(() -> run("list", "-w", "-n", NAMESPACE, "-l", "team=watched"));
    watch.setDaemon(true);
    watch.start();
    try {
      await().atMost(LIMIT).until(() -> out.toString().contains("gckpt/v-1   trainer"));
      status("v-1", "{\"phase\": \"Saving\"}");
      await().atMost(LIMIT).until(() -> out.toString().contains("Saving"));
      assertThat(run("restore", "v-1", "--name", "v-2", "-n", NAMESPACE)).isZero();
      kubectl("label", "grst", "v-2", "team=watched", "-n", NAMESPACE);
      await().atMost(LIMIT).until(() -> out.toString().contains("grst/v-2    "));
      assertThat(out.toString()).contains("grst/v-2 created").containsOnlyOnce("REASON");
    } finally {
      watch.interrupt();
      watch.join(LIMIT.toMillis());
    }
  }

  @Test
  void aRefusalIsTheServersOwnSentence() {
    assertThat(run("checkpoint", "trainer", "--deadline", "5s", "-n", NAMESPACE))
        .isEqualTo(Exit.CLUSTER);
    assertThat(err.toString()).contains("deadline: must be between 10s and 168h");
  }

  @Test
  void aDryRunMakesNothing() throws Exception {
    assertThat(run("restore", "none", "--name", "dry", "--dry-run", "-n", NAMESPACE)).isZero();
    assertThat(kubectl("get", "gpurestores", "-n", NAMESPACE)).doesNotContain("dry");
  }

  @Test
  void aWaitFollowsTheStatusToItsEnd() throws Exception {
    CompletableFuture<Integer> exit =
        CompletableFuture.supplyAsync(
            () -> run("checkpoint", "trainer", "--name", "w-1", "--wait", "-n", NAMESPACE));
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> kubectl("get", "gckpt", "w-1", "-n", NAMESPACE).contains("w-1"));
    status("w-1", "{\"phase\": \"Saving\", \"doneBytes\": 1, \"totalBytes\": 2}");
    status("w-1", "{\"phase\": \"Ready\", \"artifact\": {\"size\": \"4.7Gi\"}}");
    assertThat(exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isZero();
    assertThat(out.toString()).contains("gckpt/w-1: Ready, 4.7Gi");
  }

  @Test
  void aDeletionEndsTheWait() throws Exception {
    CompletableFuture<Integer> exit =
        CompletableFuture.supplyAsync(
            () -> run("checkpoint", "trainer", "--name", "d-1", "--wait", "-n", NAMESPACE));
    await().atMost(LIMIT).until(() -> err.toString().contains("gckpt/d-1"));
    kubectl("delete", "gckpt", "d-1", "-n", NAMESPACE);
    assertThat(exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Exit.CLUSTER);
    assertThat(err.toString()).contains("GpuCheckpoint d-1 was deleted in the meantime");
  }

  @Test
  void theDoctorFindsWhatIsWrongWithANode() throws Exception {
    kubectl("create", "--filename", "-", "--validate=false");
    kubectl(
        "patch",
        "gpunode",
        NODE,
        "--subresource=status",
        "--type=merge",
        "--patch",
        """
        {"status": {"agent": {"heartbeatTime": "%s"}, "gpuModel": "NVIDIA H200", "gpuCount": 1,
          "host": {"driver": "550.54.15", "criu": "4.2.1"},
          "stores": [{"name": "local", "totalBytes": 1000000, "freeBytes": 10}]}}\
        """
            .formatted(Clock.systemUTC().instant().minusSeconds(60)));
    assertThat(run("doctor", "-o", "json")).isEqualTo(Exit.FAILED);
    assertThat(out.toString())
        .contains("driver: expected 570 or newer, got 550.54.15")
        .contains("store local: expected a tenth of 976.6Ki free, got 10")
        .contains("s behind");
    assertThat(run("nodes", NODE)).isZero();
    assertThat(out.toString()).contains(NODE + ": 1 x NVIDIA H200");
  }

  @Test
  void theDoctorNamesAPodThatIsHeldForItsEvictionTooLong() throws Exception {
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> !kubectl("get", "serviceaccount", "default", "-n", NAMESPACE).isEmpty());
    kubectl("run", "held", "-n", NAMESPACE, "--image=none.test/none", "--restart=Never");
    kubectl("annotate", "pod", "held", "-n", NAMESPACE, "stasis.dev/evict-deadline=1s");
    String uid = kubectl("get", "pod", "held", "-n", NAMESPACE, "-o", "jsonpath={.metadata.uid}");
    kubectl(
        "create", "pdb", "evict-held", "-n", NAMESPACE, "--selector=run=held", "--min-available=1");
    String label = "stasis.dev/eviction=" + uid;
    kubectl("label", "pdb/evict-held", "pod/held", "-n", NAMESPACE, label);
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(run("doctor")).isEqualTo(Exit.FAILED);
              assertThat(out.toString())
                  .contains("pod " + NAMESPACE + "/held: protected from eviction for ")
                  .contains("expected at most 1s")
                  .contains("kubectl delete pdb -n " + NAMESPACE + " evict-held");
            });
  }

  @Test
  void everyExampleIsWhatTheServerTakes() throws Exception {
    // A pod is refused until the namespace has its service account.
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> !kubectl("get", "serviceaccount", "default", "-n", NAMESPACE).isEmpty());
    assertThat(kubectl("apply", "--dry-run=server", "-n", NAMESPACE, "--filename", "../examples"))
        .contains("gpucheckpoint.stasis.dev/train-1 created (server dry run)");
  }

  @Test
  void aMissingObjectIsReportedWithARemedy() {
    assertThat(run("list", "--context", "no-such-context")).isEqualTo(Exit.CLUSTER);
    assertThat(err.toString()).contains("no-such-context").contains("config get-contexts");
    assertThat(run("nodes", "no-such-node")).isEqualTo(Exit.CLUSTER);
    assertThat(err.toString()).contains("there is no GpuNode no-such-node");
  }

  private int run(String... arguments) {
    JsonReader json = new JsonReader();
    return KubectlStasis.run(
        new Session(
            options -> new Kubectl("kubectl", options, json),
            new Terminal(new PrintWriter(out, true), new PrintWriter(err, true), false),
            Clock.systemUTC(),
            json),
        arguments);
  }

  private static void status(String name, String status) throws Exception {
    kubectl(
        "patch",
        "gckpt",
        name,
        "-n",
        NAMESPACE,
        "--subresource=status",
        "--type=merge",
        "--patch",
        "{\"status\": " + status + "}");
  }

  private static boolean isThere() {
    try {
      kubectl("version", "--client");
      return true;
    } catch (Exception none) {
      return false;
    }
  }

  private static String kubectl(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("kubectl"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var input = process.getOutputStream()) {
      input.write(
          "{apiVersion: stasis.dev/v1beta1, kind: GpuNode, metadata: {name: %s}, spec: {}}"
              .formatted(NODE)
              .getBytes(StandardCharsets.UTF_8));
    } catch (IOException notRead) {
      // Most of them read nothing.
      assertThat(notRead).hasMessageContaining("pipe");
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + said);
    }
    return said;
  }
}
