package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
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
            lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--odd", OddProcess.FIFO)
        .withCapabilities("CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_SYS_PTRACE");
  }

  @ParameterizedTest
  @MethodSource("dev.stasis.agent.engine.ProvenRequirementsTest#atTheFreeze")
  void aWorkloadThatCriuCannotDumpIsRefusedBeforeTheFreeze(String request, Requirement property)
      throws Exception {
    odd.must(request);
    assertThat(property.scope()).isEqualTo(Scope.CHECKPOINT);
    assertThat(refused(Asked.of(lab, source)))
        .extracting(FailedRequirement::property)
        .containsExactly(property.property());
    untouched();
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"listen fd00:98::6", "udp 10.98.7.6", "pair fd00:98::6"})
  void anyOtherSocketOnAnAddressOfNoInterfaceKeepsItInItsPod(String request) throws Exception {
    aSocketOnAnAddressOfNoInterfaceKeepsItInItsPod(request);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen 10.98.7.6",
        "udp fd00:98::6",
        "udp-connected 10.98.7.6",
        "pair 10.98.7.6",
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
        "inotify /etc /data",
        "pidfd",
        "unix-pair",
      })
  void aPropertyThatEveryPodHasIsAccepted(String request) throws Exception {
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
  void aUnixConnectionToAnotherProcessIsRefusedBeforeAnythingIsTouched() throws Exception {
    Path here = Path.of("/proc/" + source.pid() + "/root/data/outside");
    try (ServerSocketChannel outside = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      outside.bind(UnixDomainSocketAddress.of(here));
      odd.must("unix-stream /data/outside");
      // Until it is accepted the other end has no inode.
      try (SocketChannel accepted = outside.accept()) {
        assertThat(refused(Asked.of(lab, source)))
            .singleElement()
            .satisfies(
                unmet -> {
                  assertThat(unmet.property()).isEqualTo(Requirement.UNIX_PEER.property());
                  assertThat(unmet.found()).contains("(odd)");
                });
        untouched();
      }
    } finally {
      odd.must("nothing");
      Files.deleteIfExists(here);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ramfs", "tmpfs"})
  void aFileSystemThatWasMountedInsideKeepsItInItsPod(String type) throws Exception {
    odd.must(type + " /data/inside");
    try {
      assertThat(refused(Asked.of(lab, source).after(After.EVICT)))
          .extracting(FailedRequirement::toString)
          .singleElement()
          .asString()
          .startsWith(Requirement.FOREIGN_MOUNT.property())
          .endsWith(type + " at /data/inside");
      untouched();
      assertThat(lab.published(Asked.of(lab, source)).artifact().manifest().notPortable())
          .hasSize(1);
    } finally {
      odd.must("umount /data/inside");
    }
  }

  @ParameterizedTest
  @MethodSource("dev.stasis.agent.engine.ProvenRequirementsTest#leftOutElsewhere")
  void aPropertyThatAnotherPodLacksMakesAWorkloadNotPortable(String request) throws Exception {
    odd.must(request);
    assertThat(refused(Asked.of(lab, source).after(After.EVICT)))
        .extracting(FailedRequirement::property)
        .containsExactly(Requirement.IPC_OBJECTS.property());
    untouched();
    assertThat(lab.published(Asked.of(lab, source)).artifact().manifest().notPortable()).hasSize(1);
  }

  private static CheckpointOutcome checkpointWith(String request, Asked asked) throws Exception {
    odd.must("nothing");
    return EngineLab.checkpoint(
        new Checkpoint(
            lab.parts(),
            HookedStep.all(
                Checkpoint.steps(),
                (moment, step) -> {
                  if (moment == HookedStep.Moment.BEFORE && step.equals("stop")) {
                    odd.must(request);
                  }
                })),
        asked);
  }

  @Test
  void aRingThatIsBusyWhenTheTreeIsStoppedIsAwaited() throws Exception {
    assertThat(checkpointWith("io_uring brief", Asked.of(lab, source)))
        .isInstanceOf(CheckpointOutcome.Published.class);
    untouched();
  }

  @Test
  void aRingThatStaysBusyIsRefusedBeforeTheDump() throws Exception {
    assertThat(checkpointWith("io_uring busy", Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).contains("io_uring").contains("operations in flight");
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    untouched();
  }

  @Test
  void onlyAWorkloadWithARingAsksForANodeWithIoUring() throws Exception {
    odd.must("nothing");
    assertThat(needs().value(Property.IO_URING)).isEmpty();
    odd.must("io_uring");
    assertThat(needs().value(Property.IO_URING)).contains("yes");
  }

  private static Fingerprint needs() throws InterruptedException {
    Checkpoint checkpoint = lab.engine().checkpoint();
    return lab.engine().fingerprint().wanted(checkpoint.inspect(Asked.of(lab, source).request()));
  }

  @Test
  void aFirstRingAfterTheInspectionKeepsItInItsPod() throws Exception {
    assertThat(checkpointWith("io_uring", Asked.of(lab, source).after(After.EVICT)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).contains(Property.IO_URING.key());
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    untouched();
  }

  @Test
  void aListenerOpenedAfterTheInspectionIsSeenOnceTheTreeIsStopped() throws Exception {
    CheckpointOutcome outcome =
        checkpointWith("listen 10.98.7.6", Asked.of(lab, source).after(After.EVICT));
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

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "udp 10.98.7.6, false",
    "udp-connected 10.98.7.6, false",
    "listen 10.98.7.6, true",
  })
  void keepIsTheUsersWordForAnyOtherSocket(String request, boolean stays) throws Exception {
    keepIsTheUsersWordThatTheAddressStays(request, stays);
  }

  @ParameterizedTest
  @CsvSource({"listen 10.98.7.6, false", "udp-connected 10.98.7.6, true"})
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

  private static List<FailedRequirement> refused(Asked asked) throws InterruptedException {
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
