package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.OutsidePipe;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Region;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CriuPlansTest {

  private static final Path RUNTIME = Path.of("/opt/stasis/stasis-runtime");
  private static final CriuBundle BUNDLE = new CriuBundle(Path.of("/run/stasis/criu"));
  private static final Path IMAGES = Path.of("/var/ckpt/criu");
  private static final Path WORK = Path.of("/run/stasis/work/ff/criu");

  @Test
  void thePagesOfSavedMemoryAreLeftOutOfADump() {
    SavedMemory saved = new SavedMemory(new ProcessId(43, 8), new Region(0x7f0000000000L, 0x2000));

    List<String> line =
        dump(container(0), CriuOptions.usual().withSaved(List.of(saved))).command(List.of());

    assertThat(values(line, "--external")).contains("saved-memory[43]:7f0000000000-7f0000002000");
  }

  @Test
  void everyMountButTheRootAndProcIsExternalOnDump() {
    List<String> line = dump(container(0), CriuOptions.usual()).command(List.of());

    assertThat(values(line, "--external"))
        .containsExactly("mnt[/dev]:/dev", "mnt[/proc/keys]:/proc/keys", "mnt[/a b]:/a b");
    assertThat(line)
        .startsWith(
            RUNTIME.toString(), "enter", "--pid", "42", "--start", "7", "--ns", "net,uts,ipc")
        .containsSequence("--", "/run/stasis/criu/criu", "dump")
        .containsSequence("--root", "/proc/42/root")
        .containsSequence("--log-file", "dump.log")
        .containsSequence("--libdir", "/run/stasis/criu/plugins")
        .contains("--leave-stopped", "--manage-cgroups=ignore", "--no-default-config")
        .doesNotContain("--leave-running", "--real-uid");
  }

  /** Which are most of what criu does in a tree of many threads and mappings. */
  @Test
  void noLineIsLoggedForEachMapping() {
    assertThat(dump(container(0), CriuOptions.usual()).criuArguments()).contains("-v2");
    assertThat(restore(CriuOptions.usual()).criuArguments()).contains("-v2");
  }

  @Test
  void aContainerOfAnotherUserIsDumpedWithItsIdsAsRealOnes() {
    assertThat(dump(container(1000), CriuOptions.usual()).command(List.of()))
        .containsSequence("--real-uid", "1000", "--real-gid", "1000");
  }

  @Test
  void aProcessWithOurOwnMountsIsDumpedWithoutThem() {
    DumpPlan plan =
        new DumpPlan(RUNTIME, BUNDLE, container(0), 100, IMAGES, WORK, CriuOptions.usual());

    assertThat(plan.command(List.of())).doesNotContain("--root", "--external");
  }

  @Test
  void theHolderTakesTheWorkloadInWithItsOwnMountsAndStreams() {
    List<String> line = restore(CriuOptions.usual()).command();

    assertThat(line)
        .startsWith(RUNTIME.toString(), "enter", "--pid", "42", "--start", "7")
        .containsSequence("--ns", "net,uts,ipc,cgroup,pid,mnt")
        .containsSequence("--cgroup", "/sys/fs/cgroup/memory/kubepods/ff")
        .containsSequence("--bring-ro", "/run/stasis/criu=/criu")
        .containsSequence("--bring-ro", "/var/ckpt/criu=/images")
        .containsSequence("--take", "/run/new=/mounts/1")
        .containsSequence("--root-bind", "/root")
        .containsSequence("--fd", "10=r:/proc/42/fd/0")
        .containsSequence("--fd", "11=w:/proc/42/fd/1")
        .containsSequence("--", "/criu/criu", "restore")
        .containsSequence("--inherit-fd", "fd[10]:pipe:[501]")
        .containsSequence("--inherit-fd", "fd[11]:pipe:[502]")
        .containsSequence("--external", "mnt[/run/old]:/mounts/1")
        .containsSequence("--pidfile", "/work/workload.pid")
        .contains("--own-root", "--fresh-proc", "--restore-detached", "--tcp-close")
        .doesNotContain("fd[12]:pipe:[777]", "--tcp-established");
  }

  @Test
  void everyThreadGetsTheProfileThatIsNamed() {
    assertThat(restore(CriuOptions.usual().withAppArmorProfile("box")).criuArguments())
        .containsSequence("--lsm-profile", "apparmor:box");
    assertThat(restore(CriuOptions.usual()).criuArguments()).doesNotContain("--lsm-profile");
  }

  @Test
  void connectionsAreKeptOnlyWhenAskedFor() {
    assertThat(restore(CriuOptions.usual().withTcp(CriuOptions.Tcp.KEEP)).command())
        .contains("--tcp-established")
        .doesNotContain("--tcp-close");
  }

  @Test
  void everyAddressOfTheSourceIsReplacedByTheTargets() {
    assertThat(restore(CriuOptions.usual()).criuArguments())
        .containsSubsequence("--external", "address[10.0.0.1]:10.0.0.2")
        .containsSubsequence("--external", "address[fd00::1]:fd00::2");
  }

  private static DumpPlan dump(Container container, CriuOptions options) {
    return new DumpPlan(RUNTIME, BUNDLE, container, 1, IMAGES, WORK, options);
  }

  private static RestorePlan restore(CriuOptions options) {
    return new RestorePlan(
        RUNTIME,
        BUNDLE,
        container(0),
        List.of(new MountPair("/dev", "/dev"), new MountPair("/run/old", "/run/new")),
        List.of(
            new OutsidePipe(501, 0, false),
            new OutsidePipe(502, 1, true),
            new OutsidePipe(777, 9, true)),
        List.of(new AddressPair("10.0.0.1", "10.0.0.2"), new AddressPair("fd00::1", "fd00::2")),
        IMAGES,
        WORK,
        options);
  }

  private static Container container(int uid) {
    ProcessId init = new ProcessId(42, 7);
    return new Container(
        "ff",
        init,
        init,
        List.of(
            new Cgroup(
                List.of("memory"),
                Path.of("/sys/fs/cgroup/memory"),
                Path.of("/sys/fs/cgroup/memory/kubepods/ff"))),
        true,
        List.of(
            mount("/", "/", "overlay"),
            mount("/", "/proc", "proc"),
            mount("/sys", "/proc/sys", "proc"),
            mount("/", "/dev", "tmpfs"),
            mount("/null", "/proc/keys", "tmpfs"),
            mount("/x", "/a b", "ext4")),
        Map.of("mnt", 100L),
        List.of(),
        Optional.empty(),
        uid,
        uid);
  }

  private static Mount mount(String root, String path, String type) {
    return new Mount(1, 0, 0, 1, root, path, List.of("rw"), List.of(), type, type, List.of("rw"));
  }

  private static List<String> values(List<String> line, String option) {
    return java.util.stream.IntStream.range(0, line.size() - 1)
        .filter(i -> line.get(i).equals(option))
        .mapToObj(i -> line.get(i + 1))
        .toList();
  }
}
