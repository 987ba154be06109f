package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.criu.ImageWatches;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InotifyRoomTest {

  private static final int ROOT = 0;
  private static final int USER = 1000;
  private static final String HOST_USERS = "user:[4026531837]";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path proc;

  @BeforeEach
  void rootHasTwoInstancesWithFiveWatches() throws IOException {
    limits(4, 8);
    process(2, 1, "kubelet", ROOT, 3);
    process(3, 1, "stasis-runtime", ROOT);
    process(4, 3, "python", USER, 2);
    restored(4);
    // Forks share the instance; a user's own count for that user.
    process(5, 4, "python", USER, 2);
    restored(5);
    process(6, 2, "kubelet", ROOT, 3);
    process(7, 1, "tail", USER, 9);
    Path own = proc.resolve(ProcessHandle.current().pid() + "/ns");
    Files.createDirectories(own);
    Files.createSymbolicLink(own.resolve("user"), Path.of(HOST_USERS));
  }

  @Test
  void whatIsLeftIsEnough() throws IOException {
    assertThat(missing(2, 3)).isEmpty();
  }

  @Test
  void bothLimitsAreCompared() throws IOException {
    assertThat(missing(3, 4))
        .extracting(FailedRequirement::toString)
        .containsExactly(
            "kernel.inotifyInstances: expected 3 left of fs.inotify.max_user_instances, got 2:"
                + " root has 2 of 4",
            "kernel.inotifyWatches: expected 4 left of fs.inotify.max_user_watches, got 3: root"
                + " has 5 of 8");
  }

  @Test
  void duplicatedDescriptorsAreOneInstance() throws IOException {
    process(8, 1, "containerd", ROOT, 4, 4, 4);

    assertThat(missing(2, 0))
        .extracting(FailedRequirement::found)
        .containsExactly("1: root has 3 of 4", "0: root has 9 of 8");
  }

  /** Any pod can give a process the name of a holder. */
  @Test
  void theProcessesBelowAFalseHolderAreTheirUsers() throws IOException {
    process(8, 1, "stasis-runtime", USER);
    process(9, 8, "python", USER, 7, 6, 5);

    assertThat(missing(2, 3)).isEmpty();
  }

  /** Without root's rights it can create a pid namespace only in its own user namespace. */
  @Test
  void aUserNamespaceOfItsOwnMakesNoRestoredProcess() throws IOException {
    process(8, 1, "stasis-runtime", USER);
    process(9, 8, "python", USER, 7, 6, 5);
    restored(9);
    Files.delete(proc.resolve("9/ns/user"));
    Files.createSymbolicLink(proc.resolve("9/ns/user"), Path.of("user:[4026532999]"));

    assertThat(missing(2, 3)).isEmpty();
  }

  @Test
  void aWorkloadWithoutInotifyNeedsNothing() throws IOException {
    limits(0, 0);
    assertThat(missing(0, 0)).isEmpty();
  }

  private List<FailedRequirement> missing(long instances, long watches) throws IOException {
    return new InotifyRoom(new ProcFs(proc)).missing(new ImageWatches(instances, watches));
  }

  private void limits(long instances, long watches) throws IOException {
    Path folder = Files.createDirectories(proc.resolve("sys/fs/inotify"));
    Files.writeString(folder.resolve("max_user_instances"), instances + "\n");
    Files.writeString(folder.resolve("max_user_watches"), watches + "\n");
  }

  /** Puts it into a pid namespace below that of its parent. */
  private void restored(int pid) throws IOException {
    Path status = proc.resolve(pid + "/status");
    Files.writeString(
        status, Files.readString(status).replace("NSpid:\t" + pid, "NSpid:\t" + pid + "\t1"));
    Path namespaces = Files.createDirectories(proc.resolve(pid + "/ns"));
    Files.createSymbolicLink(namespaces.resolve("user"), Path.of(HOST_USERS));
  }

  /** A process, with a descriptor of an instance for each number of watches. */
  private void process(int pid, int parent, String name, int user, int... instances)
      throws IOException {
    Path folder = Files.createDirectories(proc.resolve("" + pid));
    Files.writeString(
        folder.resolve("stat"),
        "%d (%s) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0"
                .formatted(pid, name, parent, pid, pid)
            + " 0".repeat(30)
            + "\n");
    Files.writeString(
        folder.resolve("status"),
        """
        State:\tS (sleeping)
        Tgid:\t%d
        PPid:\t%d
        TracerPid:\t0
        Uid:\t%d\t%d\t%d\t%d
        Gid:\t0\t0\t0\t0
        NSpid:\t%d
        Threads:\t1
        SigPnd:\t0
        ShdPnd:\t0
        CapEff:\t0
        CapBnd:\t0
        """
            .formatted(pid, parent, user, user, user, user, pid));
    for (int i = 0; i < instances.length; i++) {
      Files.createDirectories(folder.resolve("fd"));
      Files.createDirectories(folder.resolve("fdinfo"));
      Files.createSymbolicLink(folder.resolve("fd/" + i), Path.of("anon_inode:inotify"));
      Files.writeString(
          folder.resolve("fdinfo/" + i),
          "inotify wd:1 ino:5 sdev:2 mask:fff\n".repeat(instances[i]));
    }
  }
}
