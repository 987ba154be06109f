package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a checkpoint or a restore in another pod would fail at is refused before the freeze. */
class PortabilityTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @SuppressWarnings("NullAway.Init")
  private static OddProcess odd;

  @BeforeAll
  static void startOne() {
    lab = new EngineLab(1, 96);
    source = GpuContainer.start(spec());
    odd = new OddProcess(source);
    odd.giveAddresses();
    source.awaitSteps(2);
  }

  @AfterAll
  static void end() {
    source.close();
    lab.close();
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(
            lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20", "--odd", OddProcess.FIFO)
        .withCapabilities("CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_SYS_PTRACE");
  }

  @ParameterizedTest
  @CsvSource({
    "io_uring, IO_URING",
    "perf, PERF_EVENT",
    "userfaultfd, USERFAULTFD",
    "bpf, BPF",
    "landlock, LANDLOCK",
    "inotify /data, INOTIFY",
    "tty, TERMINAL",
    "device /dev/fuse 10 229, DEVICE",
    "socket 2 1 262, MPTCP",
    "socket 10 1 262, MPTCP",
    "socket 2 1 132, SOCKET",
    "socket 40 1 0, SOCKET",
    "socket 38 5 0, SOCKET",
    "socket 44 3 0, SOCKET",
    "namespace ipc, NESTED_NAMESPACE",
    "namespace uts, NESTED_NAMESPACE",
    "trace, TRACER",
  })
  void whatFailsInTheFreezeIsRefusedBeforeAnythingIsTouched(String request, Requirement property)
      throws Exception {
    odd.must(request);
    assertThat(property.scope()).isEqualTo(Scope.CHECKPOINT);
    assertThat(refused(Asked.of(lab, source)))
        .extracting(Unmet::property)
        .containsExactly(property.property());
    untouched();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen 10.98.7.6",
        "listen fd00:98::6",
        "udp 10.98.7.6",
        "udp fd00:98::6",
        "udp-connected 10.98.7.6",
        "pair 10.98.7.6",
        "pair fd00:98::6",
      })
  void aSocketOnAnAddressOfNoInterfaceKeepsItInItsPod(String request) throws Exception {
    odd.must(request);
    for (Asked leaving :
        List.of(
            Asked.of(lab, source).after(After.EVICT),
            Asked.of(lab, source).requiringRestorable())) {
      assertThat(refused(leaving))
          .singleElement()
          .satisfies(
              unmet -> {
                assertThat(unmet.property()).isEqualTo(Requirement.SOCKET_ADDRESS.property());
                assertThat(unmet.found())
                    .contains(request.contains("::") ? "[fd00:98:0:0:0:0:0:6]:" : "10.98.7.6:")
                    .contains("(odd)");
              });
      untouched();
    }
    CheckpointOutcome.Published stays = lab.published(Asked.of(lab, source));
    assertThat(stays.artifact().manifest().notPortable())
        .singleElement()
        .satisfies(
            it -> assertThat(it.property()).isEqualTo(Requirement.SOCKET_ADDRESS.property()));
    untouched();
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      assertThat(lab.restore(stays.artifact().path(), target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet().toString())
                      .contains(Requirement.SOCKET_ADDRESS.property()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen 0.0.0.0",
        "listen ::",
        "listen 127.0.0.1",
        "listen ::ffff:127.0.0.1",
        "listen ::1",
        "udp 0.0.0.0",
        "udp ::",
        "udp 239.1.2.3",
        "udp-connected 127.0.0.1",
        "pair 127.0.0.1",
        "pair ::1",
        "socket 1 1 0",
        "socket 16 3 0",
        "inotify /proc",
      })
  void whatAnotherPodCanHaveTooIsTaken(String request) throws Exception {
    odd.must(request);
    assertThat(
            lab.engine()
                .checkpoint()
                .inspect(Asked.of(lab, source).requiringRestorable().request()))
        .satisfies(
            found -> {
              assertThat(found.unmet()).isEmpty();
              assertThat(found.notPortable()).isEmpty();
            });
  }

  @Test
  void aFileSystemThatWasMountedInsideKeepsItInItsPod() throws Exception {
    odd.must("mount /data/inside");
    try {
      assertThat(refused(Asked.of(lab, source).after(After.EVICT)))
          .extracting(Unmet::toString)
          .singleElement()
          .asString()
          .startsWith(Requirement.FOREIGN_MOUNT.property())
          .endsWith("ramfs at /data/inside");
      untouched();
      assertThat(lab.published(Asked.of(lab, source)).artifact().manifest().notPortable())
          .hasSize(1);
    } finally {
      odd.must("umount /data/inside");
    }
  }

  @Test
  void aListenerOpenedAfterTheInspectionIsSeenOnceTheTreeIsStopped() throws Exception {
    odd.must("nothing");
    CheckpointOutcome outcome =
        EngineLab.checkpoint(
            new Checkpoint(
                lab.parts(),
                HookedStep.all(
                    Checkpoint.steps(),
                    (moment, step) -> {
                      if (moment == HookedStep.Moment.BEFORE && step.equals("stop")) {
                        odd.must("listen 10.98.7.6");
                      }
                    })),
            Asked.of(lab, source).after(After.EVICT));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).contains(Requirement.SOCKET_ADDRESS.property());
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    untouched();
  }

  @ParameterizedTest
  @CsvSource({
    "listen 10.98.7.6, false",
    "udp 10.98.7.6, false",
    "udp-connected 10.98.7.6, false",
    "listen 10.98.7.6, true",
    "udp-connected 10.98.7.6, true",
  })
  void keepIsTheUsersWordThatTheAddressStays(String request, boolean stays) throws Exception {
    odd.must(request);
    CheckpointOutcome.Published published = lab.published(Asked.of(lab, source));
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      if (stays) {
        new OddProcess(target).giveAddresses();
      }
      RestoreOutcome outcome =
          lab.engine()
              .restore()
              .run(
                  EngineLab.restoreRequest(
                      published.artifact().path(),
                      target,
                      new RestoreRequest.Options(
                          CheckpointRequest.Tcp.KEEP, Duration.ofSeconds(30), 2)),
                  EngineLab.control(),
                  StepListener.NONE);
      if (stays) {
        assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
      } else {
        // What the refusal saves an evicted workload from.
        assertThat(outcome.toString()).contains("Can't bind inet socket");
      }
    }
  }

  private static List<Unmet> refused(Asked asked) throws InterruptedException {
    CheckpointOutcome outcome = lab.checkpoint(asked);
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Refused.class);
    return ((CheckpointOutcome.Refused) outcome).unmet();
  }

  private static void untouched() {
    lab.assertNothingLeft();
    source.awaitSteps(2);
    source.verify(MIB);
  }
}
