package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RightsReader;
import dev.stasis.agent.process.ThreadRights;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Security;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is restored has the rights of the target's pod, and no more. */
class RestoredRightsTest {

  private static final Security USUAL = Security.usual();
  private static final Security RESTRICTED = Security.restricted(1000).withFilter();

  private static final ByteString ALLOWS_ALL = ByteString.fromHex("06000000" + "0000ff7f");

  /** Made once for each: what differs is the target, or what the artifact says. */
  private static final Map<Security, Path> ARTIFACTS = new HashMap<>();

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void open() {
    lab = new EngineLab(1, 96);
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  private static ContainerSpec spec(Security security) {
    return ContainerSpec.counter(
            lab.gpus(), "--mib", "8", "--interval-ms", "100", "--fork", "1", "--threads", "1")
        .with(security);
  }

  private static Path artifact(Security security) throws InterruptedException {
    Path made = ARTIFACTS.get(security);
    if (made == null) {
      try (GpuContainer source = GpuContainer.start(spec(security))) {
        source.awaitSteps(2);
        made = lab.published(Asked.of(lab, source)).artifact().path();
        ARTIFACTS.put(security, made);
      }
    }
    return made;
  }

  /** The securityContexts that pods have. */
  static Stream<Security> contexts() {
    return Stream.of(USUAL, USUAL.withFilter(), USUAL.as(1000), RESTRICTED);
  }

  @ParameterizedTest
  @MethodSource("contexts")
  void aWorkloadComesBackWithTheRightsOfItsPod(Security security) throws Exception {
    try (GpuContainer target = GpuContainer.start(spec(security).asHolder())) {
      RestoreOutcome outcome = lab.restore(artifact(security), target);

      RightsReader reader = new RightsReader(new ProcFs());
      // Not before the restore: until runc has started the program, this is runc itself.
      ThreadRights holder = reader.of(target.pid()).orElseThrow();
      assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
      for (ProvenProcess process : ((RestoreOutcome.Proven) outcome).proof()) {
        List<ThreadRights> threads = reader.threads(process.process().pid());
        assertThat(threads).hasSizeGreaterThan(1);
        for (ThreadRights thread : threads) {
          assertThat(thread.capabilities()).isEqualTo(holder.capabilities());
          assertThat(thread.noNewPrivileges()).isEqualTo(holder.noNewPrivileges());
          assertThat(thread.seccomp()).isEqualTo(holder.seccomp());
          assertThat(thread.seccompFilters()).isEqualTo(holder.seccompFilters());
          assertThat(thread.uids()).isEqualTo(holder.uids());
        }
        int pid = process.process().pid();
        String seen =
            new Sh().must("nsenter", "-C", "-t", "" + pid, "cat", "/proc/" + pid + "/cgroup");
        assertThat(seen).contains(":/").doesNotContain(target.id());
      }
    }
  }

  @Test
  void capabilitiesThatTheTargetCannotHaveAreRefusedBeforeCriu() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(USUAL))
            .credentials(
                of -> {
                  UnknownFieldSet all = of;
                  for (int field : new int[] {10, 11, 12}) {
                    all = ForgedArtifact.numbers(all, field, 0xffffffffL, 0x1ffL);
                  }
                  return all;
                })
            .folder();

    refused(forged, USUAL, "capabilities of thread", "SYS_ADMIN");
  }

  @Test
  void aBoundingSetAloneIsRefused() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(RESTRICTED))
            .credentials(of -> ForgedArtifact.numbers(of, 12, 1L << 21, 0))
            .folder();

    refused(forged, RESTRICTED, "capabilities of thread", "SYS_ADMIN");
  }

  @Test
  void threadsWithoutTheTargetsSeccompFilterAreRefused() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(RESTRICTED))
            .threads(of -> of.toBuilder().clearField(11).clearField(12).build())
            .folder();

    refused(forged, RESTRICTED, "seccomp filters of thread", "mode 0");
  }

  @Test
  void aFilterThatAllowsMoreThanTheTargetsIsRefused() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(RESTRICTED))
            .entries("seccomp", chains -> eachFilter(chains, ALLOWS_ALL))
            .folder();

    refused(forged, RESTRICTED, "seccomp filters of thread", "others");
  }

  private static UnknownFieldSet eachFilter(UnknownFieldSet chains, ByteString program) {
    UnknownFieldSet.Field.Builder filters = UnknownFieldSet.Field.newBuilder();
    for (ByteString filter : chains.getField(1).getLengthDelimitedList()) {
      try {
        UnknownFieldSet changed =
            UnknownFieldSet.parseFrom(filter).toBuilder()
                .clearField(1)
                .addField(1, UnknownFieldSet.Field.newBuilder().addLengthDelimited(program).build())
                .build();
        filters.addLengthDelimited(changed.toByteString());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return UnknownFieldSet.newBuilder().addField(1, filters.build()).build();
  }

  @Test
  void threadsThatCouldGainPrivilegesAreRefused() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(RESTRICTED))
            .credentials(of -> of.toBuilder().clearField(18).build())
            .folder();

    refused(forged, RESTRICTED, "no_new_privs of thread", "0");
  }

  @Test
  void rootIsRefusedWhereTheTargetCannotBecomeRoot() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(RESTRICTED))
            .credentials(of -> ForgedArtifact.numbers(of, 3, 0))
            .folder();

    refused(forged, RESTRICTED, "user ids of thread", "also [0]");
  }

  @Test
  void aMountOfItsOwnIsRefused() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(USUAL))
            .entries(
                "mountpoints-",
                mount ->
                    mount.getField(7).getLengthDelimitedList().get(0).toStringUtf8().equals("/sys")
                        ? mount.toBuilder().clearField(18).build()
                        : mount)
            .folder();

    refused(forged, USUAL, "mount /sys in the images", "a separate one");
  }

  @Test
  void aMountThatIsReadOnlyInTheTargetIsNotMadeWritable() throws Exception {
    Path forged =
        new ForgedArtifact(artifact(USUAL))
            .entries(
                "mountpoints-",
                mount ->
                    ForgedArtifact.numbers(
                        mount, 5, mount.getField(5).getVarintList().get(0) & ~1L))
            .folder();

    refused(forged, USUAL, "mount /proc/sys in the images", "a separate one");
    refused(
        forged, USUAL, "mount /usr/lib/x86_64-linux-gnu/libcuda.so.1 in the images", "writable");
  }

  @Test
  void aWorkloadThatWasRestoredIsRestoredOnceMore() throws Exception {
    ContainerSpec spec = spec(RESTRICTED);
    try (GpuContainer first = GpuContainer.start(spec.asHolder());
        GpuContainer second = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(artifact(RESTRICTED), first))
          .isInstanceOf(RestoreOutcome.Proven.class);
      first.awaitSteps(1);
      Path again = lab.published(Asked.of(lab, first)).artifact().path();

      assertThat(lab.restore(again, second)).isInstanceOf(RestoreOutcome.Proven.class);
    }
  }

  /** The template was hardened after the checkpoint: the pod was admitted with less. */
  @Test
  void aTargetWithFewerRightsThanTheSourceHadIsRefused() throws Exception {
    refused(artifact(USUAL), USUAL.without("CAP_MKNOD"), "capabilities of thread", "MKNOD");
    refused(artifact(USUAL), USUAL.withFilter(), "seccomp filters of thread", "mode 0");
  }

  @Test
  void aWorkloadThatDroppedPrivilegesComesBackInTheSamePod() throws Exception {
    Path dropped =
        new ForgedArtifact(artifact(USUAL.withFilter()))
            .credentials(
                of -> {
                  UnknownFieldSet less = of;
                  for (int field = 1; field <= 8; field++) {
                    less = ForgedArtifact.numbers(less, field, 65534);
                  }
                  for (int field : new int[] {10, 11}) {
                    less = ForgedArtifact.numbers(less, field, 0, 0);
                  }
                  return ForgedArtifact.numbers(less, 18, 1);
                })
            .folder();
    try (GpuContainer target = GpuContainer.start(spec(USUAL.withFilter()).asHolder())) {
      assertThat(lab.restore(dropped, target)).isInstanceOf(RestoreOutcome.Proven.class);
    }
  }

  /** A store that another node writes to can change after the artifact was verified. */
  /** A helper of criu ends while the restored processes are listed. */
  @Test
  void aProcessThatHasEndedHasNoRights() throws Exception {
    try (GpuContainer holder = GpuContainer.start(spec(RESTRICTED).asHolder())) {
      NodeParts node = lab.parts();
      Container target = ((Resolution.Found) node.containers().resolve(holder.id())).container();
      Process ended = new ProcessBuilder("sleep", "60").start();
      ProcessId process = node.proc().id((int) ended.pid()).orElseThrow();
      ended.destroyForcibly().waitFor();

      assertThatCode(() -> new RightsCheck(node).threads(List.of(process), target, true))
          .doesNotThrowAnyException();
    }
  }

  @Test
  void rightsThatAppearAfterTheImagesWereCheckedEndTheRestoreBeforeItRuns() throws Exception {
    endedBeforeItRuns(
        new ForgedArtifact(artifact(USUAL))
            .credentials(
                of -> {
                  long more = of.getField(10).getVarintList().get(0) | 1L << 21;
                  UnknownFieldSet changed = of;
                  for (int field : new int[] {10, 11, 12}) {
                    changed = ForgedArtifact.numbers(changed, field, more, 0);
                  }
                  return changed;
                }),
        USUAL,
        "also SYS_ADMIN");
    endedBeforeItRuns(
        new ForgedArtifact(artifact(RESTRICTED))
            .threads(of -> of.toBuilder().clearField(11).clearField(12).build()),
        RESTRICTED,
        "seccomp filters of thread");
    endedBeforeItRuns(
        new ForgedArtifact(artifact(RESTRICTED))
            .entries("seccomp", chains -> eachFilter(chains, ALLOWS_ALL)),
        RESTRICTED,
        "seccomp filters of thread");
  }

  private static void endedBeforeItRuns(ForgedArtifact forged, Security security, String message)
      throws InterruptedException {
    Path artifact = new ForgedArtifact(artifact(security)).folder();
    HookedStep.Hook swap =
        (moment, step) -> {
          if (moment == HookedStep.Moment.BEFORE && step.equals("criu-restore")) {
            new Sh().must("cp", "-a", forged.folder() + "/criu", artifact.toString());
          }
        };
    Restore restore = new Restore(lab.parts(), HookedStep.all(Restore.steps(), swap));
    try (GpuContainer target = GpuContainer.start(spec(security).asHolder())) {
      assertThat(EngineLab.restore(restore, artifact, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.step()).isEqualTo("continue");
                assertThat(failed.reason()).isEqualTo(Reason.NOT_PROVEN);
                assertThat(failed.message()).contains(message);
              });
      assertThat(target.lines()).isEmpty();
      lab.assertNothingLeft();
    }
  }

  private static void refused(Path artifact, Security security, String property, String found)
      throws InterruptedException {
    try (GpuContainer target = GpuContainer.start(spec(security).asHolder())) {
      RestoreOutcome outcome = lab.restore(artifact, target);

      assertThat(outcome).isInstanceOf(RestoreOutcome.Refused.class);
      assertThat(((RestoreOutcome.Refused) outcome).unmet())
          .anyMatch(
              (FailedRequirement unmet) ->
                  unmet.property().startsWith(property) && unmet.found().contains(found));
      assertThat(Files.exists(target.holderFolder().resolve("workload.pid"))).isFalse();
      lab.assertNothingLeft();
    }
  }
}
