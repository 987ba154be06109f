package dev.stasis.agent.cuda;

import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;

/** A process in a frozen cgroup, v1 or v2 as the machine has it; thawed and left when closed. */
record FrozenCgroup(Path parent, Path folder, boolean unified, ProcessId process)
    implements AutoCloseable {

  static FrozenCgroup around(ProcessId process) throws IOException {
    ProcFs proc = new ProcFs();
    Mount hierarchy =
        proc.mounts((int) ProcessHandle.current().pid()).stream()
            .filter(
                mount -> mount.type().equals("cgroup") && mount.superOptions().contains("freezer"))
            .findFirst()
            .or(
                () ->
                    proc.mounts((int) ProcessHandle.current().pid()).stream()
                        .filter(mount -> mount.type().equals("cgroup2"))
                        .findFirst())
            .orElseThrow();
    boolean unified = hierarchy.type().equals("cgroup2");
    Path parent = Path.of(hierarchy.mountPoint());
    Path folder = Files.createDirectory(parent.resolve("stasis-test-" + UUID.randomUUID()));
    FrozenCgroup cgroup = new FrozenCgroup(parent, folder, unified, process);
    Files.writeString(folder.resolve("cgroup.procs"), Integer.toString(process.pid()));
    cgroup.set(true);
    return cgroup;
  }

  private void set(boolean frozen) throws IOException {
    if (unified) {
      Files.writeString(folder.resolve("cgroup.freeze"), frozen ? "1" : "0");
    } else {
      Files.writeString(folder.resolve("freezer.state"), frozen ? "FROZEN" : "THAWED");
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(10))
        .until(
            () ->
                unified
                    ? Files.readString(folder.resolve("cgroup.events"))
                        .contains(frozen ? "frozen 1" : "frozen 0")
                    : Files.readString(folder.resolve("freezer.state"))
                        .startsWith(frozen ? "FROZEN" : "THAWED"));
  }

  @Override
  public void close() throws IOException {
    set(false);
    Files.writeString(parent.resolve("cgroup.procs"), Integer.toString(process.pid()));
    Files.delete(folder);
  }
}
