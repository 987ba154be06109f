package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program opens between the inspection and the freeze is refused before the dump. */
@SuppressWarnings("NullAway") // made before each test
class StoppedWorkloadTest {

  private static final int MIB = 8;

  private static EngineLab lab;
  private static GpuContainer source;
  private static OddProcess odd;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 96);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                    lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--odd", OddProcess.FIFO)
                .withCapabilities("CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_SYS_PTRACE"));
    odd = new OddProcess(source);
    source.awaitSteps(2);
  }

  @AfterAll
  static void end() {
    source.close();
    lab.close();
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("dev.stasis.agent.engine.ProvenRequirementsTest#atTheFreeze")
  void whateverCriuCannotDumpIsRefusedByNameAndTheWorkloadRunsOn(
      String request, Requirement requirement) throws Exception {
    itIsRefusedByNameAndTheWorkloadRunsOn(request, requirement);
  }

  /** PortabilityTest has all of them; here is one for each place where they are found. */
  @ParameterizedTest
  @CsvSource({
    "io_uring busy, IO_URING",
    "system-v, SYSTEM_V",
    "inotify-hidden, INOTIFY",
    "tty, TERMINAL",
    "socket 2 1 262, MPTCP",
    "namespace mnt, NESTED_NAMESPACE",
    "landlock, LANDLOCK",
    "trace, TRACER"
  })
  void itIsRefusedByNameAndTheWorkloadRunsOn(String request, Requirement requirement)
      throws Exception {
    refused(request, requirement, Asked.of(lab, source));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("dev.stasis.agent.engine.ProvenRequirementsTest#leftOutElsewhere")
  void whateverIsNotPortableIsRefusedForAnEviction(String request) throws Exception {
    aWorkloadThatIsNotPortableIsRefusedForAnEviction(request);
  }

  @ParameterizedTest
  @ValueSource(strings = "object shm")
  void aWorkloadThatIsNotPortableIsRefusedForAnEviction(String request) throws Exception {
    refused(request, Requirement.IPC_OBJECTS, Asked.of(lab, source).after(After.EVICT));
  }

  private static void refused(String request, Requirement requirement, Asked asked)
      throws Exception {
    odd.must(request);
    odd.must("nothing");
    Checkpoint checkpoint = beforeTheStop(() -> odd.must(request));
    isRefused(EngineLab.checkpoint(checkpoint, asked), requirement.property());
    untouched();
  }

  /** As an exec session is, or a process that was orphaned into a shared pid namespace. */
  @Test
  void aProcessThatDoesNotDescendFromTheWorkloadIsRefusedAndTheWorkloadRunsOn() throws Exception {
    odd.must("nothing");
    List<Process> foreign = new ArrayList<>();
    try {
      Checkpoint checkpoint = beforeTheStop(() -> foreign.add(startForeign("600")));
      isRefused(
          EngineLab.checkpoint(checkpoint, Asked.of(lab, source)), "processes of the container");
      assertThat(foreign).singleElement().matches(Process::isAlive);
    } finally {
      foreign.forEach(Process::destroyForcibly);
    }
    awaitForeign(false);
    untouched();
  }

  @Test
  void aProbeOfTheKubeletIsAwaited() throws Exception {
    odd.must("nothing");
    Checkpoint checkpoint = beforeTheStop(() -> startForeign("1"));
    assertThat(EngineLab.checkpoint(checkpoint, Asked.of(lab, source)))
        .isInstanceOf(CheckpointOutcome.Published.class);
    untouched();
  }

  private static Checkpoint beforeTheStop(Runnable action) {
    return new Checkpoint(
        lab.parts(),
        HookedStep.all(
            Checkpoint.steps(),
            (moment, step) -> {
              if (moment == HookedStep.Moment.BEFORE && step.equals(StopStep.NAME)) {
                action.run();
              }
            }));
  }

  private static void isRefused(CheckpointOutcome outcome, String property) {
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo(StopStep.NAME);
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).startsWith(property);
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
  }

  private static void untouched() {
    lab.assertNothingLeft();
    source.awaitSteps(2);
    source.verify(MIB);
  }

  private static Container container() {
    return ((Resolution.Found) lab.parts().containers().resolve(source.id())).container();
  }

  /** Starts a process in the cgroup of the container. */
  private static Process startForeign(String seconds) {
    String cgroup = container().cgroups().get(0).folder().toString();
    try {
      Process started =
          new ProcessBuilder(
                  "sh", "-c", "echo $$ > \"$0/cgroup.procs\"; exec sleep " + seconds, cgroup)
              .start();
      awaitForeign(true);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void awaitForeign(boolean there) {
    await("a process in the cgroup: " + there)
        .atMost(Duration.ofSeconds(60))
        .until(() -> lab.parts().tree().list(container()).foreign().isEmpty() != there);
  }
}
