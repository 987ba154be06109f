package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RightsReader;
import dev.stasis.agent.process.SecurityLabel;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Security;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** On a node with AppArmor, what is restored is confined by the profile of the target's pod. */
class AppArmorRestoreTest {

  private static final String FIRST = "stasis-test-first-" + ProcessHandle.current().pid();
  private static final String SECOND = "stasis-test-second-" + ProcessHandle.current().pid();

  /** What containerd gives a container whose pod names no profile. */
  private static final String USUAL_PROFILE =
      """
      profile %1$s flags=(attach_disconnected,mediate_deleted) {
        network,
        capability,
        file,
        umount,
        signal (receive) peer=unconfined,
        signal (send,receive) peer=%1$s,
        deny /proc/* w,
        deny /proc/sysrq-trigger rwklx,
        deny /sys/[^f]*/** wklx,
        deny mount,
        ptrace (trace,read,tracedby,readby) peer=%1$s,
      }
      """;

  private static final Security USUAL = Security.usual();

  private static final Map<Security, Path> ARTIFACTS = new HashMap<>();

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static Path profiles;

  @BeforeAll
  static void open() throws IOException {
    assumeTrue(
        Files.isReadable(Path.of("/sys/kernel/security/apparmor/profiles")),
        "skipped: this kernel has no AppArmor; e2e/lsm/run runs this test under one that has");
    lab = new EngineLab(1, 96);
    // An emulated processor needs a minute until the driver's worker answers for the first time.
    await().atMost(Duration.ofMinutes(5)).ignoreExceptions().until(() -> !lab.uuid(0).isEmpty());
    profiles = lab.folder().resolve("profiles");
    Files.writeString(
        profiles, USUAL_PROFILE.formatted(FIRST) + "\n" + USUAL_PROFILE.formatted(SECOND));
    new Sh().must("apparmor_parser", "--replace", "--skip-cache", profiles.toString());
  }

  @AfterAll
  static void close() {
    if (lab != null) {
      new Sh().run("apparmor_parser", "--remove", profiles.toString());
      lab.close();
    }
  }

  private static ContainerSpec spec(Security security) {
    return ContainerSpec.counter(
            lab.gpus(), "--mib", "8", "--interval-ms", "100", "--fork", "1", "--threads", "1")
        .with(security);
  }

  /** Restorable elsewhere, as before an eviction. */
  private static Path artifact(Security security) throws InterruptedException {
    Path made = ARTIFACTS.get(security);
    if (made == null) {
      try (GpuContainer source = GpuContainer.start(spec(security))) {
        source.awaitSteps(2);
        made = lab.published(Asked.of(lab, source).requiringRestorable()).artifact().path();
        ARTIFACTS.put(security, made);
      }
    }
    return made;
  }

  private static void restored(Path artifact, Security target, String label)
      throws InterruptedException {
    RightsReader reader = new RightsReader(new ProcFs());
    try (GpuContainer holder = GpuContainer.start(spec(target).asHolder())) {
      SecurityLabel expected = new SecurityLabel(true, label);
      // runc has started it, and its process gets the profile when it becomes the holder's program.
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(() -> assertThat(reader.label(holder.pid())).contains(expected));

      RestoreOutcome outcome = lab.restore(artifact, holder);

      assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
      holder.awaitSteps(2);
      for (ProvenProcess process : ((RestoreOutcome.Proven) outcome).proof()) {
        List<SecurityLabel> labels = reader.labels(process.process().pid());
        assertThat(labels).hasSizeGreaterThan(1).containsOnly(expected);
      }
    }
  }

  static Stream<Security> contexts() {
    return Stream.of(USUAL, USUAL.as(1000), Security.restricted(1000).withFilter());
  }

  @ParameterizedTest
  @MethodSource("contexts")
  void everyThreadIsRestoredWithTheProfileOfItsTarget(Security security) throws Exception {
    Security confined = security.confinedBy(FIRST);
    restored(artifact(confined), confined, FIRST + " (enforce)");
  }

  @Test
  void theProfileIsThatOfTheTargetWhateverTheSourceHad() throws Exception {
    Path artifact = artifact(USUAL.confinedBy(FIRST));
    restored(artifact, USUAL.confinedBy(SECOND), SECOND + " (enforce)");
    restored(artifact, USUAL, "unconfined");
  }

  @Test
  void aProfileThatTheImagesNameCountsForNothing() throws Exception {
    ByteString name = ByteString.copyFromUtf8(SECOND);
    UnknownFieldSet.Field profile =
        UnknownFieldSet.Field.newBuilder().addLengthDelimited(name).build();
    Path forged =
        new ForgedArtifact(artifact(USUAL.confinedBy(FIRST)))
            .credentials(of -> of.toBuilder().mergeField(15, profile).build())
            .folder();
    restored(forged, USUAL.confinedBy(FIRST), FIRST + " (enforce)");
    restored(forged, USUAL, "unconfined");
  }

  @Test
  void aThreadWithoutTheProfileOfTheTargetIsNotProven() throws Exception {
    try (GpuContainer holder = GpuContainer.start(spec(USUAL.confinedBy(FIRST)).asHolder());
        GpuContainer other = GpuContainer.start(spec(USUAL.confinedBy(SECOND)))) {
      NodeParts node = lab.parts();
      Container target = ((Resolution.Found) node.containers().resolve(holder.id())).container();
      ProcessId process = node.proc().stat(other.pid()).orElseThrow().id();

      assertThatThrownBy(() -> new RightsCheck(node).threads(List.of(process), target, true))
          .isInstanceOfSatisfying(
              StepFailure.class,
              failure -> assertThat(failure.reason()).isEqualTo(Reason.NOT_PROVEN))
          .hasMessageContaining("AppArmor profile of thread")
          .hasMessageContaining(SECOND);
    }
  }
}
