package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcFsRealProcessTest {

  private final ProcFs proc = new ProcFs();
  private final List<Process> started = new ArrayList<>();
  @TempDir Path folder;

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  void thisProcessIsDescribed() {
    int self = (int) ProcessHandle.current().pid();

    ProcessStat stat = proc.stat(self).orElseThrow();
    ProcessStatus status = proc.status(self).orElseThrow();

    assertThat(stat.comm()).isEqualTo("java");
    assertThat(stat.isKernelThread()).isFalse();
    assertThat(status.nsPids().get(0)).isEqualTo(self);
    assertThat(status.tracerPid()).isZero();
    assertThat(proc.threads(self)).extracting(ThreadStat::tid).contains(self);
    assertThat(proc.namespaces(self)).containsKeys("net", "pid", "mnt", "uts", "ipc", "user");
    assertThat(proc.mounts(self)).extracting(Mount::mountPoint).contains("/", "/proc");
    assertThat(proc.maps(self)).extracting(MemoryMapping::path).contains("[heap]");
    assertThat(proc.smaps(self)).allMatch(use -> use.rss() <= use.mapping().length());
    assertThat(proc.environment(self)).containsKey("PATH");
    assertThat(proc.alive(stat.id())).isTrue();
  }

  @Test
  void theAgeOfAProcessIsExact() throws IOException {
    long before = System.nanoTime();
    ProcessId process = proc.id((int) start("sleep", "100").pid()).orElseThrow();

    Duration age = proc.age(process).orElseThrow();

    Duration most = Duration.ofNanos(System.nanoTime() - before);
    // A tick is lost at each end.
    assertThat(age).isBetween(Duration.ofMillis(-10), most.plusMillis(20));
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> proc.age(process).orElseThrow().toMillis() > 300);
  }

  @Test
  void aProgramWithAnOddNameInAnOddPlaceIsDescribed() throws IOException {
    Path odd = Files.createDirectory(folder.resolve("a (b) \n c"));
    Path program = Files.copy(Path.of("/bin/sleep"), odd.resolve("sl) R 1\n("));
    Files.setPosixFilePermissions(
        program, java.nio.file.attribute.PosixFilePermissions.fromString("rwxr-xr-x"));
    Process process = start(program.toString(), "100");
    int pid = (int) process.pid();

    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> proc.stat(pid).orElseThrow().comm().equals("sl) R 1\n("));

    assertThat(proc.stat(pid).orElseThrow().ppid()).isEqualTo((int) ProcessHandle.current().pid());
    assertThat(proc.maps(pid)).extracting(MemoryMapping::path).contains(program.toString());
    assertThat(proc.cmdline(pid)).containsExactly(program.toString(), "100");
    assertThat(proc.link(pid, "exe")).contains(program.toString());
    assertThat(proc.children((int) ProcessHandle.current().pid()))
        .extracting(ProcessStat::pid)
        .contains(pid);
  }

  @Test
  void openFilesTellTheirKindFlagsAndPlace() throws IOException {
    Path file = Files.writeString(folder.resolve("log"), "hello");
    Process process = start("sh", "-c", "exec 7>>'" + file + "'; echo more >&7; exec sleep 100");
    int pid = (int) process.pid();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> proc.openFiles(pid).stream().anyMatch(open -> open.position() == 10));

    OpenFile log =
        proc.openFiles(pid).stream().filter(open -> open.fd() == 7).findFirst().orElseThrow();
    OpenFile out =
        proc.openFiles(pid).stream().filter(open -> open.fd() == 1).findFirst().orElseThrow();

    assertThat(log.target()).isEqualTo(file.toString());
    assertThat(log.isWritable()).isTrue();
    assertThat(log.isReadable()).isFalse();
    assertThat(out.isPipe()).isTrue();
    assertThat(out.inode()).isPresent();
    assertThat(proc.mounts(pid)).extracting(Mount::id).contains(log.mountId());
  }

  @Test
  void anUnreapedChildIsAZombieWithNothingLeft() throws IOException {
    // sh starts a child that ends, then becomes sleep, which never asks for its child's end.
    Process process = start("sh", "-c", "(exit 3) & exec sleep 100");
    int pid = (int) process.pid();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> proc.children(pid).stream().anyMatch(ProcessStat::isZombie));

    ProcessStat zombie = proc.children(pid).get(0);

    assertThat(zombie.ending()).isEqualTo("exit code 3");
    assertThat(proc.alive(zombie.id())).isFalse();
    assertThat(proc.maps(zombie.pid())).isEmpty();
    assertThat(proc.smaps(zombie.pid())).isEmpty();
    assertThat(proc.openFiles(zombie.pid())).isEmpty();
    assertThat(proc.environment(zombie.pid())).isEmpty();
    assertThat(proc.mounts(zombie.pid())).isEmpty();
    assertThat(proc.threads(zombie.pid())).hasSize(1);
    proc.namespaces(zombie.pid());
  }

  @Test
  void theMachineIsDescribed() {
    assertThat(proc.bootId()).hasSize(36);
    assertThat(proc.memory("MemAvailable").orElseThrow()).isPositive();
    assertThat(proc.processes()).extracting(ProcessStat::pid).contains(1);
  }

  private Process start(String... command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    started.add(process);
    return process;
  }
}
