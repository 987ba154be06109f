package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/** A folder with the layout of /proc, and beside it a hierarchy with the cgroup of a container. */
final class FakeProcesses {

  /** The id of the container. */
  static final String ID = "c0ffee00".repeat(8);

  /** More than any pid of this machine: the folder of this JVM has its mounts. */
  static final int FIRST = 10_000_001;

  private final Path root;
  private final Path cgroup;

  FakeProcesses(Path folder) throws IOException {
    root = Files.createDirectory(folder.resolve("proc"));
    Path hierarchy = Files.createDirectory(folder.resolve("cgroup"));
    cgroup = Files.createDirectory(hierarchy.resolve(ID));
    Path self = Files.createDirectory(root.resolve(Long.toString(ProcessHandle.current().pid())));
    Files.writeString(
        self.resolve("mountinfo"),
        "30 20 0:26 / %s rw - cgroup2 cgroup2 rw%n".formatted(hierarchy));
  }

  ProcFs proc() {
    return new ProcFs(root);
  }

  /**
   * Adds a process.
   *
   * @param group its cgroup
   * @param nsPids its pids in the pid namespaces below the first one
   */
  ProcessId add(int pid, int parent, String group, String nsPids, String... command)
      throws IOException {
    Path folder = Files.createDirectory(root.resolve(Integer.toString(pid)));
    Files.writeString(
        folder.resolve("stat"),
        "%d (some) S %d %s1 0 %d".formatted(pid, parent, "0 ".repeat(15), pid));
    Files.writeString(
        folder.resolve("status"),
        """
        PPid:\t%d
        TracerPid:\t0
        Uid:\t0\t0\t0\t0
        Gid:\t0\t0\t0\t0
        NSpid:\t%d\t%s
        SigPnd:\t0
        ShdPnd:\t0
        CapEff:\t0
        """
            .formatted(parent, pid, nsPids));
    Files.writeString(folder.resolve("cgroup"), "0::/" + group + "\n");
    Files.writeString(
        folder.resolve("cmdline"),
        Arrays.stream(command).map(word -> word + "\0").collect(Collectors.joining()));
    return new ProcessId(pid, pid);
  }

  /** The processes that the container's cgroup lists. */
  void inCgroup(int... pids) throws IOException {
    Files.write(
        cgroup.resolve("cgroup.procs"), Arrays.stream(pids).mapToObj(Integer::toString).toList());
  }
}
