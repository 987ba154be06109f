package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Program;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What {@code explain} says of a program is what its checkpoint comes to: the same refusals, the
 * same obstacles to a restore elsewhere, and an artifact that is no larger. Writes a table with the
 * expected and the actual sizes and freeze times.
 */
@SuppressWarnings("NullAway") // made before each test
class ExplainedProgramsTest {

  /** Options of a counting GPU process, by what they stand for. */
  private static final Map<String, List<String>> COUNTERS = new LinkedHashMap<>();

  static {
    COUNTERS.put("counter, 8 MiB of GPU memory", List.of("--mib", "8"));
    COUNTERS.put("counter, 128 MiB of GPU memory", List.of("--mib", "128"));
    COUNTERS.put("counter with a forked GPU process", List.of("--mib", "8", "--fork", "1"));
    COUNTERS.put(
        "two GPU processes with a pipe", List.of("--mib", "8", "--fork", "1", "--link", "pipe"));
    COUNTERS.put(
        "two ranks with NCCL's peer-to-peer", List.of("--mib", "8", "--nccl", "--fork", "1"));
  }

  private static final Path TABLE = Path.of("target/explained-programs.md");

  private static final List<String> ROWS = new ArrayList<>();

  private static AgentLab lab;

  @BeforeAll
  static void start() throws InterruptedException {
    lab = new AgentLab(1, 512);
    lab.start();
    ROWS.add(
        "| program | explained | checkpoint | expected at most (MiB) | artifact (MiB) | expected"
            + " freeze (ms) | frozen (ms) |");
    ROWS.add("|---|---|---|---|---|---|---|");
  }

  @AfterAll
  static void stop() throws Exception {
    lab.close();
    Files.write(TABLE, ROWS);
    ROWS.forEach(System.out::println);
  }

  static Stream<String> programs() {
    return Stream.concat(
        COUNTERS.keySet().stream(), Stream.of(Program.values()).map(Program::name));
  }

  @ParameterizedTest
  @MethodSource("programs")
  void whatIsExplainedHappens(String name) throws Exception {
    try (AgentLab.Placed pod = started(name)) {
      Explanation explained =
          Objects.requireNonNull(
              end(Orders.ofSomebody(), pod, true, OperationPhase.SUCCEEDED).getExplanation());
      List<Fault> faults = Objects.requireNonNullElse(explained.faults(), List.of());
      Orders orders = Orders.ofSomebody();
      GpuNodeOperationStatus actual =
          end(
              orders,
              pod,
              false,
              faults.isEmpty() ? OperationPhase.SUCCEEDED : OperationPhase.FAILED);
      if (faults.isEmpty()) {
        assertThat(actual.getOutcome()).isEqualTo(Outcome.DONE);
        assertThat(Objects.requireNonNull(actual.getArtifact()).getNotPortable())
            .isEqualTo(explained.notPortable());
        assertThat(actual.getArtifact().getBytes())
            .isBetween(explained.expectedBytes() / 10, explained.expectedBytes());
        String deletion = lab.cluster().create(orders.delete()).getMetadata().getName();
        assertThat(lab.cluster().awaitEnd(deletion).getOutcome()).isEqualTo(Outcome.DONE);
      } else {
        assertThat(actual.getOutcome()).isEqualTo(Outcome.REFUSED);
        assertThat(properties(actual.getFaults())).isEqualTo(properties(faults));
      }
      addRow(name, explained, faults, actual);
      pod.container().awaitSteps(2);
      lab.engine().assertNothingLeft();
    }
  }

  private static GpuNodeOperationStatus end(
      Orders orders, AgentLab.Placed pod, boolean dryRun, OperationPhase phase) {
    String operation =
        lab.cluster()
            .create(orders.checkpoint(pod, order -> order.setDryRun(dryRun)))
            .getMetadata()
            .getName();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(operation);
    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(phase);
    return status;
  }

  private static AgentLab.Placed started(String name) throws IOException {
    List<String> options = COUNTERS.get(name);
    if (options != null) {
      ContainerSpec counter =
          ContainerSpec.counter(
              lab.engine().gpus(),
              Stream.concat(options.stream(), Stream.of("--interval-ms", "100"))
                  .toArray(String[]::new));
      AgentLab.Placed pod = lab.pod("counter", counter, Map.of());
      pod.container().awaitSteps(2);
      return pod;
    }
    Program program = Program.valueOf(name);
    assumeTrue(program.missing().isEmpty(), () -> "not on this machine: " + program.missing());
    AgentLab.Placed pod =
        lab.pod(
            "program",
            program.in(ContainerSpec.counter(lab.engine().gpus()), lab.engine().folder()),
            Map.of());
    GpuContainer container = pod.container();
    program.network(container, 5);
    program.awaitProgress(container, 10);
    return pod;
  }

  /** What each refusal is about; the processes that it names may have others beside them by now. */
  private static List<String> properties(@Nullable List<Fault> faults) {
    return Objects.requireNonNull(faults).stream()
        .map(fault -> fault.reason() + " " + fault.property())
        .distinct()
        .sorted()
        .toList();
  }

  private static void addRow(
      String name, Explanation explained, List<Fault> faults, GpuNodeOperationStatus actual) {
    boolean refused = !faults.isEmpty();
    ROWS.add(
        Stream.of(
                COUNTERS.containsKey(name) ? name : "`" + name + "`",
                refused ? properties(faults).toString() : "possible",
                refused ? "refused: the same" : "Succeeded",
                refused ? "" : mib(explained.expectedBytes()),
                refused ? "" : mib(actual.getArtifact().getBytes()),
                refused ? "" : explained.expectedFrozenMilliseconds(),
                refused ? "" : actual.getTimings().getFrozenMilliseconds())
            .map(String::valueOf)
            .collect(Collectors.joining(" | ", "| ", " |")));
  }

  private static long mib(long bytes) {
    return bytes >> 20;
  }
}
