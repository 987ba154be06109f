package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MpsFinderTest {

  private static final long IPC = 4_026_532_222L;
  private static final String DAEMON = "nvidia-cuda-mps-";
  private static final String NONE = "00000000a80425fb";
  private static final String ALL = "000001ffffffffff";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path proc;

  @BeforeEach
  void theAgentIsInTheUserNamespaceOfTheHost() throws IOException {
    namespaces((int) ProcessHandle.current().pid(), 1, 1);
  }

  @Test
  void aForeignPodCannotPretendToServeOthers() throws IOException {
    process(8, DAEMON, NONE);
    namespaces(8, 1, 7);

    assertThat(mayServe()).isFalse();
  }

  @Test
  void allCapabilitiesInAUserNamespaceOfItsOwnAreNone() throws IOException {
    process(8, DAEMON, ALL);
    namespaces(8, 2, 7);

    assertThat(mayServe()).isFalse();
  }

  @Test
  void aPrivilegedDaemonMayServeEveryPod() throws IOException {
    process(8, DAEMON, ALL);
    namespaces(8, 1, 7);

    assertThat(mayServe()).isTrue();
  }

  @Test
  void aDaemonOfItsOwnPodMayServeIt() throws IOException {
    process(8, DAEMON, NONE);
    namespaces(8, 1, IPC);

    assertThat(mayServe()).isTrue();
  }

  @Test
  void anotherPrivilegedProcessIsNoDaemon() throws IOException {
    process(8, "kubelet", ALL);
    namespaces(8, 1, 1);

    assertThat(mayServe()).isFalse();
  }

  private boolean mayServe() {
    ProcessId root = new ProcessId(7, 1);
    return new MpsFinder(new ProcFs(proc))
        .mayServe(
            new Container(
                "c",
                root,
                root,
                List.of(),
                true,
                List.of(),
                Map.of("ipc", IPC),
                List.of(),
                Optional.empty(),
                0,
                0));
  }

  private void namespaces(int pid, long user, long ipc) throws IOException {
    Path folder = Files.createDirectories(proc.resolve(pid + "/ns"));
    Files.createSymbolicLink(folder.resolve("user"), Path.of("user:[" + user + "]"));
    Files.createSymbolicLink(folder.resolve("ipc"), Path.of("ipc:[" + ipc + "]"));
  }

  private void process(int pid, String name, String capabilities) throws IOException {
    Path folder = Files.createDirectories(proc.resolve("" + pid));
    Files.writeString(
        folder.resolve("stat"),
        "%d (%s) S 1 %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0".formatted(pid, name, pid, pid)
            + " 0".repeat(30)
            + "\n");
    Files.writeString(
        folder.resolve("status"),
        """
        State:\tS (sleeping)
        Tgid:\t%d
        PPid:\t1
        TracerPid:\t0
        Uid:\t0\t0\t0\t0
        Gid:\t0\t0\t0\t0
        NSpid:\t%d\t1
        Threads:\t1
        SigPnd:\t0
        ShdPnd:\t0
        CapEff:\t%s
        CapBnd:\t0
        """
            .formatted(pid, pid, capabilities));
  }
}
