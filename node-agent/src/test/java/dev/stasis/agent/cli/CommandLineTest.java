package dev.stasis.agent.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CudaProcess;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkJournal;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {

  private static final String CONTAINER = "c0ffee".repeat(10) + "c0ff";

  @TempDir private Path state;
  private final InProcess program = new InProcess();
  private boolean mayRunElsewhere;
  private final ProcFs proc = new ProcFs();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "thaw",
        "thaw a --all",
        "restore a",
        "checkpoint a",
        "checkpoint a --after nothing",
        "checkpoint a --store /s --lock-timeout 3",
        "checkpoint a --store /s --deadline 0s",
        "checkpoint a --store /s --name ../x",
        "checkpoint a --store /s --pack relative",
        "checkpoint a --store /s --threads 0"
      })
  void wrongUsageIsOneSentenceAndTwo(String line) {
    String[] arguments = line.isEmpty() ? new String[0] : line.split(" ");
    assertThat(program.run(arguments)).isEqualTo(2);
    assertThat(program.out()).isEmpty();
    assertThat(program.err().lines()).hasSize(2);
    assertThat(program.err()).startsWith("stasis-node: ").contains("see: stasis-node");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"gpus", "check", "checkpoint", "restore", "inspect", "frozen", "thaw", "end"})
  void everyHelpEndsWithTheExitCodes(String command) {
    assertThat(program.run((command + " --help").split(" "))).isZero();
    assertThat(program.out())
        .contains("Exit codes:", "  4   A workload is frozen", "--json", "--state-dir");
  }

  @Test
  void aShellCanCompleteTheCommands() {
    assertThat(program.run("generate-completion")).isZero();
    assertThat(program.out()).contains("complete ", "--lock-timeout", "thaw");
  }

  @Test
  void aNodeWithoutFrozenWorkloadsReportsThat() {
    assertThat(program.run("frozen", "--state-dir", state.toString())).isZero();
    assertThat(program.out()).isEqualTo("no frozen workloads on this node\n");
  }

  @Test
  void theFrozenTableListsStartOwnerMemoryAndRemedy() {
    ProcessId self = proc.id((int) ProcessHandle.current().pid()).orElseThrow();
    write(Work.Phase.HELD, proc.bootId(), self, "/dev/shm/stage");
    assertThat(program.run("frozen", "--state-dir", state.toString())).isZero();
    assertThat(program.out().lines())
        .containsExactly(
            "CONTAINER     STATE           SINCE                 AGO     FOR    "
                + "HELD                                            NEXT",
            "c0ffeec0ffee  saved and held  2026-11-21T11:30:00Z  30 min  alice  "
                + "16.0 GiB of GPU-00000000, stage /dev/shm/stage  "
                + "stasis-node thaw c0ffeec0ffee or: stasis-node end c0ffeec0ffee");
  }

  @Test
  void anOperationOfADeadAgentIsShownAsInterrupted() throws Exception {
    ProcessId self = proc.id((int) ProcessHandle.current().pid()).orElseThrow();
    write(Work.Phase.WORKING, proc.bootId(), self, null);
    assertThat(program.run("frozen", "--json", "--state-dir", state.toString())).isZero();
    JsonNode one = new ObjectMapper().readTree(program.out()).get("frozen").get(0);
    assertThat(one.get("state").asText()).isEqualTo("interrupted freeze");
    assertThat(one.get("container").asText()).isEqualTo(CONTAINER);
    assertThat(one.get("ageMilliseconds").asLong()).isEqualTo(1_800_000);
    assertThat(one.get("alive").asBoolean()).isTrue();
    assertThat(one.get("agentPid").isNull()).isTrue();
    assertThat(one.get("processes").get(0).get("gpuBytes").asLong()).isEqualTo(16L << 30);
    assertThat(one.get("next").asText()).isEqualTo("stasis-node thaw c0ffeec0ffee");
  }

  @Test
  void aWorkloadFrozenBeforeARebootIsShownAsLost() {
    write(Work.Phase.SUSPENDED, "another-boot", new ProcessId(1, 1), null);
    assertThat(program.run("frozen", "--state-dir", state.toString())).isZero();
    assertThat(program.out()).contains("lost by a reboot");
  }

  @Test
  void nothingIsEndedWithoutAWord() {
    ProcessId self = proc.id((int) ProcessHandle.current().pid()).orElseThrow();
    write(Work.Phase.HELD, proc.bootId(), self, null);
    assertThat(
            program.run(
                "end", "c0ffee", "--state-dir", state.toString(), "--criu-dir", state + "/c"))
        .isEqualTo(3);
    assertThat(program.err()).contains("expected --yes or a terminal");
  }

  @Test
  void aWorkloadOfWhichACopyMayRunIsThawedByItsNameOnly() {
    ProcessId self = proc.id((int) ProcessHandle.current().pid()).orElseThrow();
    mayRunElsewhere = true;
    write(Work.Phase.HELD, proc.bootId(), self, null);
    String criu = state + "/criu";
    assertThat(program.run("frozen", "--state-dir", state.toString())).isZero();
    assertThat(program.out()).contains("a copy may run elsewhere: stasis-node end c0ffeec0ffee");
    assertThat(program.run("thaw", "--all", "--state-dir", state.toString(), "--criu-dir", criu))
        .isEqualTo(3);
    assertThat(program.err()).contains("may run elsewhere", "stasis-node thaw c0ffeec0ffee");
    assertThat(new WorkJournal(state).read(CONTAINER)).map(Work::phase).contains(Work.Phase.HELD);
  }

  @Test
  void anUnknownWorkloadIsRefusedByThawAndEnd() {
    String criu = state + "/criu";
    assertThat(program.run("thaw", "abc", "--state-dir", state.toString(), "--criu-dir", criu))
        .isEqualTo(3);
    assertThat(program.run("end", "abc", "--state-dir", state.toString(), "--criu-dir", criu))
        .isEqualTo(3);
    assertThat(program.err()).contains("expected exactly one");
  }

  @Test
  void aFolderThatIsNoArtifactIsRefusedWithTheReason() throws Exception {
    assertThat(program.run("inspect", "--json", state.resolve("none").toString())).isEqualTo(3);
    JsonNode answer = new ObjectMapper().readTree(program.out());
    assertThat(answer.get("outcome").asText()).isEqualTo("Refused");
    assertThat(answer.get("kind").asText()).isEqualTo("MISSING");
  }

  @Test
  void theSelfTestEndsWithOneWhenAnythingIsBad() {
    Report report =
        CheckCommand.tell(
            List.of(Finding.ok("kernel", "6.18"), Finding.bad("criu", "none", "run bin/setup")));
    assertThat(report.code()).isEqualTo(ExitCode.FAILED);
    assertThat(report.lines())
        .containsExactly(
            "CHECK        FOUND", "kernel  ok   6.18", "criu    bad  none", "    -> run bin/setup");
  }

  private void write(Work.Phase phase, String boot, ProcessId init, @Nullable String stage) {
    GpuUuid gpu = GpuUuid.parse("GPU-00000000-0000-0000-0000-000000000001");
    new WorkJournal(state)
        .write(
            new Work(
                Work.FORMAT,
                boot,
                "operation-1",
                "alice",
                Work.Kind.FREEZE,
                After.EVICT,
                mayRunElsewhere,
                phase,
                Instant.parse("2026-11-21T11:30:00Z"),
                CONTAINER,
                init,
                List.of(new CudaProcess(init, init.pid(), Map.of(gpu, 16L << 30))),
                List.of(),
                List.of(),
                List.of(),
                stage,
                null,
                null,
                List.of(),
                null,
                null,
                null,
                false));
  }
}
