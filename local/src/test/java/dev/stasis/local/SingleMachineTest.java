package dev.stasis.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.testing.CgroupSearch;
import dev.stasis.local.testing.SingleMachine;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo} shows, with the files of {@code examples/}. */
class SingleMachineTest {

  private static final Path EXAMPLES = Path.of("../examples");
  private static final Pattern STEP = Pattern.compile("step (\\d+) .*");
  private static final String MIB = "64";

  /** Seconds are usual; a loaded machine is given time. */
  private static final Duration SOON = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init") // made before each test
  private SingleMachine machine;

  @BeforeEach
  void start() {
    Optional<String> missing = SingleMachine.missing();
    assumeTrue(missing.isEmpty(), () -> missing.orElse("") + ": bin/setup and a build are needed");
    machine = SingleMachine.start();
  }

  @AfterEach
  void end() {
    // Where it was never started there is nothing to end.
    if (Objects.nonNull(machine)) {
      machine.close();
    }
  }

  @Tag("long")
  @Test
  void aPodComesBackTwiceWithRightNumbersAndNothingIsLeftBehind() throws IOException {
    apply(
        Files.readString(EXAMPLES.resolve("store.yaml"))
            .replaceFirst("path: .*", "path: " + machine.folder().resolve("store")),
        GpuCheckpointStore.class);
    Pod pod = apply("pod.yaml", "", "", Pod.class);
    awaitSteps(5);
    List<String> run = new ArrayList<>();
    for (int generation = 1; generation <= 2; generation++) {
      String name = "train-" + generation;
      apply("gpucheckpoint.yaml", "train-1", name, GpuCheckpoint.class);
      await(name, "Ready", GpuCheckpoint.class);
      int saved = last();
      awaitSteps(saved + 3);
      List<String> before = log();
      machine.client().resource(pod).delete();
      Awaitility.await("the pod is gone")
          .atMost(SOON)
          .until(() -> machine.client().resource(pod).get() == null);
      apply("gpurestore.yaml", "train-1", name, GpuRestore.class);
      await(name + "-back", "Succeeded", GpuRestore.class);
      // It runs; what it prints next is on its way.
      Awaitility.await("its first step").atMost(SOON).until(() -> !log().isEmpty());
      int first = number(log().get(0));
      assertThat(first).isLessThan(number(before.get(before.size() - 1)));
      // What ran on after it was saved is done once more.
      before.removeIf(line -> number(line) >= first);
      run.addAll(before);
      awaitSteps(first + 3);
    }
    run.addAll(log());
    Path whole = Files.write(machine.folder().resolve("whole.log"), run);
    String judge = machine.counter().toString();
    assertThat(new HostProgram().must(judge, "--verify", whole.toString(), "--mib", MIB))
        .as(String.join("\n", run))
        .isNotNull();

    machine.endItsInput();
    String folder = machine.folder().toString();
    assertThat(Files.readAllLines(Path.of("/proc/mounts")))
        .noneMatch(line -> line.contains(folder));
    assertThat(new CgroupSearch(2).paths())
        .noneMatch(it -> it.endsWith("stasis-local-" + machine.folder().getFileName()));
    // Who reads a container's output ends after its last writer, in its own time.
    Awaitility.await("that no process is left")
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(
                        ProcessHandle.allProcesses().map(it -> it.info().commandLine().orElse("")))
                    .noneMatch(line -> line.contains(folder)));
  }

  private <T extends HasMetadata> T apply(String file, String old, String name, Class<T> kind)
      throws IOException {
    return apply(Files.readString(EXAMPLES.resolve(file)).replace(old, name), kind);
  }

  private <T extends HasMetadata> T apply(String yaml, Class<T> kind) {
    T object = Serialization.unmarshal(yaml, kind);
    if (!(object instanceof GpuCheckpointStore)) {
      object.getMetadata().setNamespace("default");
    }
    return machine.client().resource(object).create();
  }

  private <T extends HasMetadata> JsonNode status(String name, Class<T> kind) {
    T object = machine.client().resources(kind).inNamespace("default").withName(name).get();
    return Serialization.jsonMapper().<JsonNode>valueToTree(object).path("status");
  }

  private <T extends HasMetadata> void await(String what, String wanted, Class<T> kind) {
    String found =
        Awaitility.await(what + " is " + wanted)
            .atMost(SOON)
            .pollInterval(Duration.ofMillis(100))
            .until(
                () -> status(what, kind).path("phase").asText(),
                it -> it.equals(wanted) || it.equals("Failed"));
    assertThat(found).as(why(what, kind)).isEqualTo(wanted);
  }

  /** What it says itself of how it went: all that is known of a failure that does not come back. */
  private <T extends HasMetadata> String why(String name, Class<T> kind) {
    JsonNode status = status(name, kind);
    return name + ": " + status.path("reason").asText() + ": " + status.path("message").asText();
  }

  private List<String> log() {
    try {
      String text = machine.client().pods().inNamespace("default").withName("trainer").getLog();
      return new ArrayList<>(text.lines().filter(line -> STEP.matcher(line).matches()).toList());
    } catch (KubernetesClientException e) {
      // It has printed nothing yet.
      return new ArrayList<>();
    }
  }

  private static int number(String line) {
    Matcher step = STEP.matcher(line);
    assertThat(step.matches()).as(line).isTrue();
    return Integer.parseInt(step.group(1));
  }

  private int last() {
    List<String> lines = log();
    return lines.isEmpty() ? -1 : number(lines.get(lines.size() - 1));
  }

  private void awaitSteps(int count) {
    Awaitility.await("step " + count)
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> last() >= count);
  }
}
