package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
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
    Checkpoint checkpoint =
        new Checkpoint(
            lab.parts(),
            HookedStep.all(
                Checkpoint.steps(),
                (moment, step) -> {
                  if (moment == HookedStep.Moment.BEFORE && step.equals("stop")) {
                    odd.must(request);
                  }
                }));
    assertThat(EngineLab.checkpoint(checkpoint, asked))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo(StopStep.NAME);
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).startsWith(requirement.property());
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    lab.assertNothingLeft();
    source.awaitSteps(2);
    source.verify(MIB);
  }
}
