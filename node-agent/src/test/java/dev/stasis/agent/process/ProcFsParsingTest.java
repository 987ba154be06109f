package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcFsParsingTest {

  @TempDir Path root;

  @ParameterizedTest
  @ValueSource(strings = {"No such process", "No such file or directory", "Invalid argument"})
  void anOpenFileOfAnEndedProcessIsNoFault(String message) {
    assertThat(ProcFiles.isGone(new IOException(message))).isTrue();
  }

  @Test
  void otherFaultsOfReadingAreFaults() {
    assertThat(ProcFiles.isGone(new IOException("Input/output error"))).isFalse();
    assertThat(ProcFiles.isGone(new AccessDeniedException("/proc/1/environ"))).isFalse();
  }

  @Test
  void theSoftLimitOfDescriptorsIsTheOneThatHolds() throws IOException {
    write(
        "42/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max open files            1024                 524288               files\n");

    ProcFs proc = new ProcFs(root);
    assertThat(proc.descriptorLimit(42)).hasValue(1024);
    assertThat(proc.descriptorLimit(43)).isEmpty();
    write(
        "44/limits", "Max open files            unlimited            unlimited            files\n");
    assertThat(proc.descriptorLimit(44)).isEmpty();
    assertThat(new ProcFs().descriptorLimit((int) ProcessHandle.current().pid())).isPresent();
  }

  @Test
  void aNameWithSpacesBracketsAndNewlinesDoesNotShiftTheFields() throws IOException {
    write(
        "42/stat",
        "42 (a) R 1 (b\n) S 7 42 41 1025 -1 4194560 1 2 3 4 10 5 6 7 20 0 3 0 99887 123456 9"
            + " 18446744073709551615 0 0\n");

    ProcessStat stat = new ProcFs(root).stat(42).orElseThrow();

    assertThat(stat.comm()).isEqualTo("a) R 1 (b\n");
    assertThat(stat.state()).isEqualTo('S');
    assertThat(stat.ppid()).isEqualTo(7);
    assertThat(stat.session()).isEqualTo(41);
    assertThat(stat.ttyNumber()).isEqualTo(1025);
    assertThat(stat.cpuTicks()).isEqualTo(15);
    assertThat(stat.threads()).isEqualTo(3);
    assertThat(stat.id()).isEqualTo(new ProcessId(42, 99887));
  }

  @Test
  void aReusedPidIsNotTheSameProcess() throws IOException {
    write("42/stat", "42 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n");
    ProcFs proc = new ProcFs(root);

    assertThat(proc.alive(new ProcessId(42, 500))).isTrue();
    assertThat(proc.alive(new ProcessId(42, 499))).isFalse();
    assertThat(proc.stat(new ProcessId(42, 499))).isEmpty();
  }

  @Test
  void aZombieIsNotAlive() throws IOException {
    write("42/stat", "42 (x) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n");

    assertThat(new ProcFs(root).alive(new ProcessId(42, 500))).isFalse();
  }

  @Test
  void aProcessThatIsEndingIsDetected() throws IOException {
    // Killed by a signal while it was stopped; and one that merely stands still.
    write("42/stat", "42 (x) t 1 1 1 0 -1 4195332 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n");
    write("43/stat", "43 (x) T 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n");

    assertThat(new ProcFs(root).stat(42).orElseThrow().isEnding()).isTrue();
    assertThat(new ProcFs(root).stat(43).orElseThrow().isEnding()).isFalse();
  }

  @Test
  void mountNamesAreDecodedAndOptionalFieldsKept() throws IOException {
    write(
        "42/mountinfo",
        "36 35 98:0 /mnt\\0401 /mnt/a\\040b\\134c\\012d\\043 rw,noatime shared:1 master:2 - ext3"
            + " /dev/r\\011oot rw,errors=continue\n"
            + "37 36 0:5 / /plain ro - proc proc rw\n");

    List<Mount> mounts = new ProcFs(root).mounts(42);

    assertThat(mounts).hasSize(2);
    Mount odd = mounts.get(0);
    assertThat(odd.root()).isEqualTo("/mnt 1");
    assertThat(odd.mountPoint()).isEqualTo("/mnt/a b\\c\nd#");
    assertThat(odd.source()).isEqualTo("/dev/r\toot");
    assertThat(odd.optionalFields()).containsExactly("shared:1", "master:2");
    assertThat(odd.superOption("errors")).contains("continue");
    assertThat(mounts.get(1).optionalFields()).isEmpty();
    assertThat(mounts.get(1).isReadOnly()).isTrue();
    assertThat(mounts.get(1).type()).isEqualTo("proc");
  }

  @Test
  void theMountsOfARealGpuPodAreAllRead() throws IOException {
    Path folder = Files.createDirectory(root.resolve("2557"));
    Files.copy(
        Path.of("src/test/resources/samples/cdi-pod.mountinfo"), folder.resolve("mountinfo"));

    List<Mount> mounts = new ProcFs(root).mounts(2557);

    assertThat(mounts).hasSize(63);
    assertThat(mounts.get(0).superOption("upperdir").orElseThrow()).endsWith("snapshots/5/fs");
    assertThat(mounts)
        .anySatisfy(
            mount ->
                assertThat(mount.mountPoint())
                    .isEqualTo("/usr/local/nvidia/lib64/libcuda.so.580.159.04"));
  }

  @Test
  void mappingsWithOddNamesAreRead() throws IOException {
    write(
        "42/maps",
        "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
            + "7f0000000000-7f0000001000 r-xp 00002000 fe:01 99 /tmp/a b\\012c (deleted)\n"
            + "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n"
            + "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n");

    List<MemoryMapping> maps = new ProcFs(root).maps(42);

    assertThat(maps.get(0).path()).isEqualTo("[heap]");
    assertThat(maps.get(0).isAnonymous()).isFalse();
    assertThat(maps.get(1).path()).isEqualTo("/tmp/a b\nc (deleted)");
    assertThat(maps.get(1).inode()).isEqualTo(99);
    assertThat(maps.get(2).isAnonymous()).isTrue();
    assertThat(maps.get(2).isPrivate()).isTrue();
    assertThat(maps.get(2).length()).isEqualTo(4096);
    assertThat(maps.get(3).length()).isEqualTo(4096);
  }

  @Test
  void smapsGiveFlagsAndPagesInBytes() throws IOException {
    write(
        "42/smaps",
        "7f0000002000-7f0000202000 rw-p 00000000 00:00 0 \n"
            + "Size:               2048 kB\nRss:                2048 kB\n"
            + "Shared_Clean:          0 kB\nShared_Dirty:          4 kB\n"
            + "Private_Clean:         0 kB\nPrivate_Dirty:      2044 kB\n"
            + "AnonHugePages:      2048 kB\n"
            + "VmFlags: rd wr mr mw me ac \n"
            + "7f0000300000-7f0000301000 rw-p 00000000 00:00 0 \nSize: 4 kB\n");

    List<MappingUse> uses = new ProcFs(root).smaps(42);

    assertThat(uses).as("the torn last mapping is left out").hasSize(1);
    assertThat(uses.get(0).sharedDirty()).isEqualTo(4096);
    assertThat(uses.get(0).vmFlags()).containsExactlyInAnyOrder("rd", "wr", "mr", "mw", "me", "ac");
  }

  @Test
  void cgroupsOfBothVersionsAreRead() throws IOException {
    write(
        "42/cgroup",
        "9:name=systemd:/a:b\n3:cpu,cpuacct:/kubepods/x\n0::/kubepods/besteffort/pod1/ff\n");

    List<CgroupMembership> cgroups = new ProcFs(root).cgroups(42);

    assertThat(cgroups.get(0)).isEqualTo(new CgroupMembership(9, List.of("name=systemd"), "/a:b"));
    assertThat(cgroups.get(1).controllers()).containsExactly("cpu", "cpuacct");
    assertThat(cgroups.get(2).isUnified()).isTrue();
    assertThat(cgroups.get(2).controllers()).isEmpty();
  }

  @Test
  void theEnvironmentOfARealGpuPodIsRead() throws IOException {
    Path folder = Files.createDirectory(root.resolve("2557"));
    String lines = Files.readString(Path.of("src/test/resources/samples/cdi-pod.environ"));
    Files.writeString(folder.resolve("environ"), lines.replace('\n', '\0'));

    assertThat(new ProcFs(root).environment(2557))
        .containsEntry("NVIDIA_VISIBLE_DEVICES", "void")
        .containsEntry("KUBERNETES_PORT_443_TCP", "tcp://10.96.0.1:443");
  }

  @Test
  void emptyArgumentsAreKept() throws IOException {
    write("42/cmdline", "sh\0-c\0\0\0");

    assertThat(new ProcFs(root).cmdline(42)).containsExactly("sh", "-c", "", "");
  }

  @Test
  void nothingIsThereOfAProcessThatIsGone() {
    ProcFs proc = new ProcFs(root);

    assertThat(proc.id(42)).isEmpty();
    assertThat(proc.status(42)).isEmpty();
    assertThat(proc.threads(42)).isEmpty();
    assertThat(proc.maps(42)).isEmpty();
    assertThat(proc.smaps(42)).isEmpty();
    assertThat(proc.mounts(42)).isEmpty();
    assertThat(proc.openFiles(42)).isEmpty();
    assertThat(proc.namespaces(42)).isEmpty();
    assertThat(proc.cgroups(42)).isEmpty();
    assertThat(proc.environment(42)).isEmpty();
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void aProcessThatEndsWhileItsLinkIsReadIsGone() {
    Iterator<IOException> answers =
        List.<IOException>of(
                new AccessDeniedException("/proc/7/ns/user"), new NoSuchFileException("/proc/7/ns"))
            .iterator();

    assertThat(
            ProcFiles.link(
                () -> {
                  throw answers.next();
                }))
        .isEmpty();
    assertThat(answers).isExhausted();
  }

  @Test
  void aLinkThatMayNotBeReadIsAnError() {
    assertThatThrownBy(
            () ->
                ProcFiles.link(
                    () -> {
                      throw new AccessDeniedException("/proc/7/ns/user");
                    }))
        .hasMessageContaining("no permission");
  }
}
