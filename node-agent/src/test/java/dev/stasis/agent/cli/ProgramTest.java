package dev.stasis.agent.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import dev.stasis.agent.testing.SimGpuNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program as a user runs it, over real containers with a simulated GPU. */
class ProgramTest {

  private final SimGpuNode gpus = SimGpuNode.make(1, 128);
  private final Program program = new Program(gpus);
  private final ContainerSpec spec =
      ContainerSpec.counter(gpus, "--mib", "16", "--interval-ms", "100");

  @AfterEach
  void clean() {
    program.close();
    gpus.close();
  }

  @Test
  void aWorkloadIsSavedInspectedAndRestored() throws Exception {
    String store = program.store().toString();
    JsonNode saved;
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      Program.Run run = program.run("checkpoint", source.id(), "--store", store, "--json");
      assertThat(run.code()).as(run.err()).isZero();
      saved = run.json();
      assertThat(saved.get("outcome").asText()).isEqualTo("Published");
      assertThat(saved.get("frozenMilliseconds").asLong()).isPositive();
      assertThat(saved.get("steps")).extracting(step -> step.get("step").asText()).contains("lock");
      assertThat(run.err()).doesNotContain("INFO");
      source.awaitSteps(3);
    }
    String artifact = saved.get("artifact").get("path").asText();
    Program.Run inspected = program.run("inspect", artifact, "--verify", "--json");
    assertThat(inspected.code()).as(inspected.err()).isZero();
    assertThat(inspected.json().get("digest")).isEqualTo(saved.get("artifact").get("digest"));
    assertThat(inspected.json().get("verified").asBoolean()).isTrue();
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      Program.Run wrong =
          program.run("restore", artifact, "--into", target.id(), "--digest", "0".repeat(64));
      assertThat(wrong.code()).isEqualTo(3);
      assertThat(wrong.err()).contains("artifact digest: expected 000");
      Program.Run back = program.run("restore", artifact, "--into", target.id(), "--json");
      assertThat(back.code()).as(back.err()).isZero();
      assertThat(back.json().get("outcome").asText()).isEqualTo("Proven");
      assertThat(back.json().get("gpuBytes").asLong()).isGreaterThanOrEqualTo(16L << 20);
      target.awaitSteps(3);
    }
  }

  @Test
  void aSuspendedWorkloadIsListedAndThawed() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      Program.Run suspended =
          program.run("checkpoint", source.id(), "--after", "suspend", "--owner", "alice");
      assertThat(suspended.code()).as(suspended.err()).isZero();
      assertThat(suspended.out()).contains("suspended", "resume it:  stasis-node thaw");
      Program.Run frozen = program.run("frozen");
      assertThat(frozen.out()).contains(source.id().substring(0, 12), "suspended", "alice");
      Program.Run again = program.run("checkpoint", source.id(), "--after", "suspend");
      assertThat(again.code()).isEqualTo(3);
      Program.Run thawed = program.run("thaw", "--all", "--json");
      assertThat(thawed.code()).as(thawed.err()).isZero();
      assertThat(thawed.json().get("thawed").get(0).get("state").asText()).isEqualTo("Running");
      source.awaitSteps(3);
      assertThat(program.run("frozen").out()).contains("no frozen workloads");
    }
  }

  @Test
  void anEvictedWorkloadIsFrozenUntilItIsEnded() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      String store = program.store().toString();
      Program.Run held =
          program.run("checkpoint", source.id(), "--store", store, "--after", "evict");
      assertThat(held.code()).as(held.err()).isZero();
      assertThat(held.out()).contains("is frozen", "stasis-node end ");
      String id = source.id().substring(0, 12);
      assertThat(program.run("end", id).code()).isEqualTo(3);
      assertThat(source.running()).isTrue();
      Program.Run ended = program.run("end", id, "--yes", "--json");
      assertThat(ended.code()).as(ended.err()).isZero();
      assertThat(ended.json().get("outcome").asText()).isEqualTo("Ended");
      // Its kernel takes a moment to end what was killed.
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !source.running());
    }
  }

  @Test
  void theNodeIsShownAndChecked() throws Exception {
    Program.Run shown = program.run("gpus", "--json");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.json().get("gpus").get(0).get("totalBytes").asLong()).isEqualTo(128L << 20);
    Program.Run checked = program.run("check", "--json", "--store", "/var/tmp");
    assertThat(checked.code()).as(checked.out() + checked.err()).isZero();
    assertThat(checked.json().get("checks"))
        .extracting(check -> check.get("check").asText())
        .contains("criu", "driver", "GPU 0", "copy speed", "disk speed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpu-checkpoint", "dump"})
  void anImpatientCtrlCUndoesACheckpointBeforeTheProgramEnds(String when) throws Exception {
    Path out = Files.createTempFile("stasis-cli", ".out");
    Path err = Files.createTempFile("stasis-cli", ".err");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      // Time to notice it, and to send the signal, however busy the machine is.
      gpus.fault("checkpoint", "slow 2000");
      program.dumpsSlowly(2);
      String store = program.store().toString();
      Process run = program.start(out, err, "checkpoint", source.id(), "--store", store, "--json");
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> !run.isAlive() || begun(when));
      // Again and again: helpers that fill memory back must not hear it.
      do {
        new Sh().run("kill", "-INT", "--", "-" + run.pid());
      } while (!run.waitFor(100, TimeUnit.MILLISECONDS));
      String told = Files.readString(out) + Files.readString(err);
      assertThat(run.exitValue()).as(told).isEqualTo(1);
      assertThat(told).contains("\"Cancelled\"", "\"Running\"", "rolled back: the workload runs");
      source.awaitSteps(3);
    } finally {
      Files.deleteIfExists(out);
      Files.deleteIfExists(err);
    }
  }

  private boolean begun(String step) throws Exception {
    return step.equals("dump")
        ? program.isDumping()
        : !Files.exists(gpus.folder().resolve("faults/checkpoint"));
  }
}
