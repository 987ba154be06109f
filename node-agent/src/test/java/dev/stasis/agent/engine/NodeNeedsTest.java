package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.process.IoUringSupport;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.testing.Sh;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a node offers, and what a workload asks of another one because of what it does. */
class NodeNeedsTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path proc;

  @BeforeEach
  void anUsualNode() throws IOException {
    file("sys/kernel/hostname", "n");
    file("sys/kernel/osrelease", "6.12.1");
    file("sys/kernel/io_uring_disabled", "0");
    file("sys/kernel/pid_max", "4194304");
    file("sys/vm/max_map_count", "65530");
    file("cpuinfo", "flags\t\t: fpu sse");
    file("self/cgroup", "0::/system.slice");
    file("self/net/if_inet6", "0".repeat(31) + "1 01 80 10 80 lo");
    file("sys/vm/overcommit_memory", "1");
    file("sys/fs/inotify/max_user_instances", "128");
    file("sys/fs/inotify/max_user_watches", "65536");
    file("self/ns/time", "");
  }

  private void file(String path, String text) throws IOException {
    Path file = proc.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }

  private Fingerprint offered() {
    NodeFactsReader reader = new NodeFactsReader(proc, "4.2.1");
    return reader.host(reader.read(NodeGpus.none(new DriverAvailability.NoDevice("none"))));
  }

  @ParameterizedTest
  @CsvSource({
    "sys/kernel/io_uring_disabled, 0, IO_URING, yes",
    "sys/kernel/io_uring_disabled, 1, IO_URING, yes",
    "sys/kernel/io_uring_disabled, 2, IO_URING, no",
    "self/cgroup, 0::/a, CGROUP_VERSION, 2",
    "self/cgroup, 4:memory:/a, CGROUP_VERSION, 1",
    "sys/vm/max_map_count, 262144, MAX_MAP_COUNT, 262144",
    "sys/kernel/pid_max, 32768, PID_MAX, 32768",
    "sys/vm/overcommit_memory, 0, OVERCOMMIT, yes",
    "sys/vm/overcommit_memory, 2, OVERCOMMIT, no",
    "sys/vm/memfd_noexec, 1, MEMFD_EXEC, yes",
    "sys/vm/memfd_noexec, 2, MEMFD_EXEC, no",
    "sys/fs/inotify/max_user_instances, 8192, INOTIFY_INSTANCES, 8192",
    "sys/fs/inotify/max_user_watches, 524288, INOTIFY_WATCHES, 524288",
    "self/net/if_inet6, fe800000000000000000000000000001 02 40 20 80 eth0, IPV6, no",
  })
  void aNodeOffersWhatItsSettingsAllow(String path, String text, Property property, String value)
      throws IOException {
    file(path, text);
    assertThat(offered().value(property)).contains(value);
  }

  @Test
  void aKernelWithoutIpv6IsReported() throws IOException {
    assertThat(offered().value(Property.IPV6)).contains("yes");
    Files.delete(proc.resolve("self/net/if_inet6"));
    assertThat(offered().value(Property.IPV6)).contains("no");
  }

  @Test
  void aKernelWithoutTheSettingIsAsked() throws IOException {
    boolean here = new IoUringSupport(Path.of("/proc")).exists();
    Files.delete(proc.resolve("sys/kernel/io_uring_disabled"));
    assertThat(new IoUringSupport(proc).exists()).isEqualTo(here);
  }

  @Test
  void anOrdinaryWorkloadAsksForNothingMore() throws IOException {
    process(7, 12, 300);

    assertThat(needs(7)).isEqualTo(Fingerprint.empty());
    file("sys/kernel/io_uring_disabled", "2");
    Fingerprint strict = offered();
    assertThat(Compatibility.check(NodeNeeds.wanted(strict, needs(7)), strict).fits()).isTrue();
  }

  @Test
  void aKernelWithoutTheSettingAllowsExecutableMemory() {
    assertThat(offered().value(Property.MEMFD_EXEC)).contains("yes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/memfd:pulse (deleted)", "/dev/zero (deleted)"})
  void sharedMemoryAsksForANodeWhereItCanBeMade(String file) throws IOException {
    process(7, 12, 300);
    Fingerprint needs = needs(List.of(member(7, Set.of(file), List.of(), Set.of())));

    assertThat(needs).isEqualTo(Fingerprint.empty().with(Property.MEMFD_EXEC, "yes"));
    file("sys/vm/memfd_noexec", "2");
    Fingerprint strict = offered();
    assertThat(Compatibility.check(needs, strict).sentence())
        .isEqualTo("kernel.memfdExec: expected yes, got no");
    assertThat(needs(List.of(member(7, Set.of(), List.of(open("/memfd:x (deleted)")), Set.of()))))
        .isEqualTo(needs);
  }

  @Test
  void aNodeWithoutOvercommitTakesOnlyWhatComesFromAnother() throws IOException {
    Fingerprint generous = NodeNeeds.wanted(offered(), Fingerprint.empty());
    file("sys/vm/overcommit_memory", "2");

    assertThat(Compatibility.check(generous, offered()).sentence())
        .isEqualTo("kernel.overcommit: expected yes, got no");
    Fingerprint strict = NodeNeeds.wanted(offered(), Fingerprint.empty());
    assertThat(Compatibility.check(strict, offered()).fits()).isTrue();
  }

  @Test
  void manyWatchesAskForTwiceAsMany() throws IOException {
    process(7, 12, 300);
    Set<String> watches =
        IntStream.range(0, 5000).mapToObj(inode -> "0:29:" + inode).collect(Collectors.toSet());
    List<OpenFile> instances = Collections.nCopies(65, open("anon_inode:inotify"));

    assertThat(needs(List.of(member(7, Set.of(), instances, watches))).values())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(Property.INOTIFY_INSTANCES, "130", Property.INOTIFY_WATCHES, "10000"));
  }

  @Test
  void manyMappingsAndHighIdsAskForNodesThatAllowThem() throws IOException {
    process(7, 40_000, 62_000);

    assertThat(needs(7).values())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(Property.MAX_MAP_COUNT, "68200", Property.PID_MAX, "65536"));
    Fingerprint place = offered();
    assertThat(Compatibility.check(NodeNeeds.wanted(place, needs(7)), place).sentence())
        .isEqualTo("kernel.maxMapCount: expected at least 68200, got 65530");
  }

  @Test
  void hiddenFoldersAskForANodeWhoseKernelHasThem() throws IOException {
    for (String folder : List.of("proc/acpi", "sys/firmware", "sys/devices/system/cpu/cpu0")) {
      Files.createDirectories(proc.resolve("self/root").resolve(folder));
    }
    Files.createDirectories(proc.resolve("self/root/sys/devices/system/cpu/cpu0/thermal_throttle"));
    process(7, 12, 300);
    Fingerprint needs =
        new NodeNeeds(new ProcFs(proc))
            .of(
                List.of(member(7, Set.of(), List.of(), Set.of())),
                List.of(
                    hidden("/proc/acpi"),
                    hidden("/proc/scsi"),
                    hidden("/data"),
                    hidden("/sys/devices/system/cpu/cpu1/thermal_throttle")));

    assertThat(Compatibility.check(needs, offered()).sentence())
        .contains("kernel.hiddenFolders: expected /proc/scsi, not found")
        .contains("kernel.throttledCpus: expected at least 2, got 1");
  }

  @ParameterizedTest
  @CsvSource({
    "kubepods.slice/kubepods-burstable.slice/"
        + "kubepods-burstable-pod1b2c3d4e_5f60_7182_93a4_b5c6d7e8f901.slice, 4096, 4096",
    "kubepods.slice/kubepods-pod1b2c3d4e_5f60_7182_93a4_b5c6d7e8f901.slice, max, 4194304",
    "pids/kubepods/besteffort/pod1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901, 1024, 1024",
    "pids/user.slice, 7, 4194304",
  })
  void theKubeletsLimitIsThatOfItsPods(String cgroup, String text, String limit)
      throws IOException {
    file("self/root/sys/fs/cgroup/" + cgroup + "/pids.max", text);

    assertThat(offered().value(Property.POD_PIDS)).contains(limit);
  }

  @Test
  void manyThreadsAskForANodeThatAllowsThem() throws IOException {
    process(7, 12, 300);
    for (int tid = 8; tid < 2007; tid++) {
      thread(7, tid, 12);
    }

    assertThat(needs(7).values()).containsEntry(Property.POD_PIDS, "2216");
  }

  /** The kernel gives a number to one read only. */
  @Test
  void theLimitsOfTheRunningKernelAreReadWhole() {
    Path kernel = Path.of("/proc");
    NodeFactsReader reader = new NodeFactsReader(kernel, "4.2.1");
    Fingerprint host =
        reader.host(reader.read(NodeGpus.none(new DriverAvailability.NoDevice("none"))));

    Map.of(
            Property.INOTIFY_WATCHES, "fs/inotify/max_user_watches",
            Property.MAX_MAP_COUNT, "vm/max_map_count",
            Property.PID_MAX, "kernel/pid_max")
        .forEach(
            (property, setting) ->
                assertThat(host.value(property))
                    .hasValue(new Sh().must("cat", "/proc/sys/" + setting).trim()));
  }

  private static Mount hidden(String path) {
    return new Mount(1, 1, 0, 5, "/", path, List.of("ro"), List.of(), "tmpfs", "tmpfs", List.of());
  }

  private Fingerprint needs(int pid) {
    return needs(List.of(member(pid, Set.of(), List.of(), Set.of())));
  }

  private Fingerprint needs(List<Subject.Member> members) {
    return new NodeNeeds(new ProcFs(proc)).of(members, List.of());
  }

  private static OpenFile open(String target) {
    return new OpenFile(5, target, 2, 0, 1);
  }

  private static Subject.Member member(
      int pid, Set<String> mapped, List<OpenFile> files, Set<String> watches) {
    ProcessStat stat = new ProcessStat(pid, "python", 'S', 1, pid, 0, 0, 0, 1, 7, 0, 0);
    return new Subject.Member(
        stat, true, files, 1024, Map.of(), Map.of(), mapped, 0, watches, Set.of(), List.of(),
        false);
  }

  /** A process with one thread. */
  private void process(int pid, int ownTid, int mappings) throws IOException {
    file(pid + "/maps", "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n".repeat(mappings));
    thread(pid, pid, ownTid);
  }

  private void thread(int pid, int tid, int ownTid) throws IOException {
    String task = pid + "/task/" + tid;
    file(
        task + "/stat",
        "%d (python) S 1 %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0".formatted(pid, pid, pid)
            + " 0".repeat(30));
    file(
        task + "/status",
        """
        State:\tS (sleeping)
        Tgid:\t%d
        PPid:\t1
        TracerPid:\t0
        Uid:\t0\t0\t0\t0
        Gid:\t0\t0\t0\t0
        NSpid:\t%d\t%d
        Threads:\t1
        SigPnd:\t0
        ShdPnd:\t0
        CapEff:\t0
        CapBnd:\t0
        """
            .formatted(pid, pid, ownTid));
  }
}
