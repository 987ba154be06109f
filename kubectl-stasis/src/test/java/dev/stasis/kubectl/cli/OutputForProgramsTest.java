package dev.stasis.kubectl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Resource;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** -o prints one document, as kubectl does. */
class OutputForProgramsTest {

  private final FakeCluster cluster = new FakeCluster();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void fill() {
    cluster.objects.add(of("GpuMigration", "move", "Freezing"));
    cluster.objects.add(of("GpuRestore", "back", "Pending"));
    cluster.objects.add(of("GpuCheckpoint", "nap", "Suspended"));
    cluster.objects.add(of("GpuCheckpoint", "rest", "Suspended"));
  }

  private static Resource of(String kind, String name, String phase) {
    return Objects.of(
        """
        apiVersion: stasis.dev/v1beta1
        kind: %s
        metadata: {name: %s, namespace: ml, managedFields: [{manager: kubectl}]}
        spec: {podRef: {name: of-%s}, afterCheckpoint: Suspend, desiredState: Suspended}
        status: {phase: %s, artifact: {store: chunks}}
        """
            .formatted(kind, name, name, phase));
  }

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    return KubectlStasis.run(
        new Session(
            options -> cluster,
            new Terminal(new PrintWriter(out, true), new PrintWriter(err, true), false),
            Clock.fixed(Objects.NOW, ZoneOffset.UTC),
            new JsonReader()),
        arguments);
  }

  /** Reads what was printed, and fails if there is more than one document. */
  private JsonNode printed() throws JsonProcessingException {
    ObjectMapper mapper = out.toString().startsWith("{") ? new ObjectMapper() : new YAMLMapper();
    return mapper.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).readTree(out.toString());
  }

  private List<String> names() throws JsonProcessingException {
    JsonNode list = printed();
    assertThat(list.path("apiVersion").asText()).isEqualTo("v1");
    assertThat(list.path("kind").asText()).isEqualTo("List");
    assertThat(list.path("items").isArray()).isTrue();
    return list.findValuesAsText("name").stream().filter(it -> !it.startsWith("of-")).toList();
  }

  @Test
  void severalObjectsAreOneList() throws Exception {
    for (String format : List.of("json", "yaml")) {
      assertThat(run("cancel", "move", "back", "-o", format)).isZero();
      assertThat(names()).containsExactly("move", "back");
      assertThat(run("cancel", "move", "back", "--dry-run", "-o", format)).isZero();
      assertThat(names()).containsExactly("move", "back");
      assertThat(run("resume", "nap", "rest", "-o", format)).isZero();
      assertThat(names()).containsExactly("nap", "rest");
      assertThat(run("store", "ls", "chunks", "-A", "-o", format)).isZero();
      assertThat(names()).containsExactly("nap", "rest");
      assertThat(run("store", "verify", "--store", "chunks", "-o", format)).isZero();
      assertThat(names()).containsExactly("nap", "rest");
    }
  }

  @Test
  void aSelectionIsAListAlsoWithoutObjects() throws Exception {
    cluster.objects.clear();
    for (String[] none :
        List.of(
            new String[] {"cancel", "--all", "-o", "json"},
            new String[] {"resume", "-l", "team=a", "-o", "yaml"},
            new String[] {"store", "ls", "chunks", "-o", "json"},
            new String[] {"store", "verify", "--all", "-o", "yaml"})) {
      assertThat(run(none)).isZero();
      assertThat(names()).isEmpty();
    }
  }

  @Test
  void anObjectThatIsNamedIsTheDocument() throws Exception {
    assertThat(run("cancel", "move", "-o", "json")).isZero();
    assertThat(printed().path("kind").asText()).isEqualTo("GpuMigration");
    assertThat(printed().path("metadata").has("managedFields")).isFalse();
    assertThat(run("resume", "nap", "-o", "yaml")).isZero();
    assertThat(printed().path("kind").asText()).isEqualTo("GpuCheckpoint");
    assertThat(run("checkpoint", "trainer", "-o", "yaml")).isZero();
    assertThat(printed().path("metadata").path("name").asText()).isEqualTo("trainer-x7k2p");
    assertThat(run("checkpoint", "trainer", "--dry-run", "-o", "json")).isZero();
    assertThat(printed().path("kind").asText()).isEqualTo("GpuCheckpoint");
    assertThat(run("store", "verify", "nap", "-o", "json")).isZero();
    assertThat(printed().path("metadata").path("name").asText()).isEqualTo("nap");
    cluster.objects.add(
        Objects.of(
            "{kind: GpuCheckpointStore, metadata: {name: bucket}, spec: {location: {s3: {bucket:"
                + " b}}}}"));
    assertThat(run("store", "gc", "bucket", "-o", "yaml")).isZero();
    assertThat(printed().path("kind").asText()).isEqualTo("GpuCheckpointStore");
  }

  @Test
  void theEndsOfAllAreOneListWithTheExitCodeOfTheWorst() throws Exception {
    cluster.events.add(of("GpuMigration", "move", "RolledBack"));
    cluster.events.add(of("GpuRestore", "back", "Failed"));
    assertThat(run("cancel", "move", "back", "--wait", "-o", "json")).isEqualTo(Exit.FAILED);
    assertThat(names()).containsExactly("move", "back");
    assertThat(printed().findValuesAsText("phase")).containsExactly("RolledBack", "Failed");
  }

  @Test
  void whatWasDoneBeforeAFailureIsPrinted() throws Exception {
    cluster.objects.set(1, of("GpuRestore", "back", "Failed"));
    assertThat(run("cancel", "move", "back", "-o", "json")).isEqualTo(Exit.FAILED);
    assertThat(names()).containsExactly("move");
    assertThat(run("cancel", "back", "-o", "json")).isEqualTo(Exit.FAILED);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("grst/back: expected a request in progress");
  }
}
