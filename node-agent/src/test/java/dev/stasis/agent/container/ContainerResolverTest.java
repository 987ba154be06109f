package dev.stasis.agent.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerResolverTest {

  private static final int FIRST = FakeProcesses.FIRST;

  private final ProcFs proc = new ProcFs();
  private final ContainerResolver resolver = new ContainerResolver(proc);

  @Test
  void aContainerIsFoundByIdByItsBeginningAndByPid() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 1000, "/data", "child")) {
      // Its child has the other end of their pipe from its start on.
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> proc.children(running.resolve().root().pid()).size() == 1);
      Container container = running.resolve();

      assertThat(container.id()).isEqualTo(running.id());
      assertThat(container.init()).isEqualTo(container.root());
      assertThat(container.uid()).isEqualTo(1000);
      assertThat(container.gid()).isEqualTo(1000);
      assertThat(container.isRestored()).isFalse();
      assertThat(container.ownsCgroups()).isTrue();
      assertThat(container.upper()).contains(running.upper());
      assertThat(container.cgroups())
          .isNotEmpty()
          .allSatisfy(
              cgroup -> assertThat(cgroup.folder()).exists().endsWith(Path.of(running.id())));
      assertThat(container.mounts()).anyMatch(mount -> mount.mountPoint().equals("/data"));
      assertThat(container.pipes())
          .as("output and errors go into one pipe; the pipe to the child stays inside")
          .singleElement()
          .satisfies(
              pipe -> {
                assertThat(pipe.fd()).isEqualTo(1);
                assertThat(pipe.written()).isTrue();
              });
      assertThat(resolver.resolve(running.id().substring(0, 20)))
          .isEqualTo(new Resolution.Found(container));
      assertThat(resolver.resolve(Integer.toString(container.init().pid())))
          .isEqualTo(new Resolution.Found(container));
      assertThat(resolver.again(running.id()))
          .as("found again, now by its first process")
          .isEqualTo(new Resolution.Found(container));
    }
  }

  @Test
  void aContainerThatHasEndedIsNotFoundAgain() throws Exception {
    TestContainer running = TestContainer.start("workload", 0, "/data");
    try (running) {
      assertThat(resolver.resolve(running.id())).isInstanceOf(Resolution.Found.class);
    }
    assertThat(resolver.again(running.id())).isInstanceOf(Resolution.Refused.class);
  }

  @Test
  void aContainerIsFoundAgainIfItsCgroupsCannotBeRead(@TempDir Path folder) throws IOException {
    FakeProcesses processes = new FakeProcesses(folder);
    ProcessId init = processes.add(FIRST, 1, FakeProcesses.ID, "1", "/program");
    ContainerResolver fake = new ContainerResolver(processes.proc());

    Resolution found = fake.resolve(FakeProcesses.ID);

    assertThat(((Resolution.Found) found).container().init()).isEqualTo(init);
    assertThat(fake.again(FakeProcesses.ID)).isEqualTo(found);
  }

  /** Its descendants may need seconds to end, and it waits for them outside its cgroup. */
  @Test
  void aFirstProcessThatIsEndingIsFoundAgain(@TempDir Path folder) throws IOException {
    FakeProcesses processes = new FakeProcesses(folder);
    ProcessId init = processes.add(FIRST, 1, FakeProcesses.ID, "1", "/program");
    ProcessId child = processes.add(FIRST + 1, init.pid(), FakeProcesses.ID, "2", "/program");
    processes.inCgroup(init.pid(), child.pid());
    ContainerResolver fake = new ContainerResolver(processes.proc());
    Resolution found = fake.resolve(FakeProcesses.ID);

    processes.inCgroup(child.pid());

    assertThat(((Resolution.Found) found).container().init()).isEqualTo(init);
    assertThat(fake.again(FakeProcesses.ID)).isEqualTo(found);
  }

  /** Otherwise the target would count as one in which nothing was restored. */
  @Test
  void aRestoredWorkloadThatIsEndingIsFoundAgain(@TempDir Path folder) throws IOException {
    FakeProcesses processes = new FakeProcesses(folder);
    ProcessId holder = processes.add(FIRST, 1, FakeProcesses.ID, "1", "/stasis-runtime", "init");
    ProcessId root = processes.add(FIRST + 1, holder.pid(), FakeProcesses.ID, "2 1", "/program");
    ProcessId child = processes.add(FIRST + 2, root.pid(), FakeProcesses.ID, "3 2", "/program");
    processes.inCgroup(holder.pid(), root.pid(), child.pid());
    ContainerResolver fake = new ContainerResolver(processes.proc());
    Resolution found = fake.resolve(FakeProcesses.ID);

    processes.inCgroup(holder.pid(), child.pid());

    assertThat(((Resolution.Found) found).container().root()).isEqualTo(root);
    assertThat(fake.again(FakeProcesses.ID)).isEqualTo(found);
  }

  @Test
  void aProcessWithoutAContainerIsTreatedAlike() throws IOException, InterruptedException {
    Process sleep = new ProcessBuilder("sleep", "100").start();
    try {
      ProcessId process = proc.id((int) sleep.pid()).orElseThrow();

      Resolution byPid = resolver.byPid(process.pid());

      Container container = ((Resolution.Found) byPid).container();
      assertThat(container.id()).isEqualTo("pid-" + process.pid() + "-" + process.startTime());
      assertThat(container.root()).isEqualTo(process);
      assertThat(container.ownsCgroups()).isFalse();
      assertThat(container.pipes()).hasSize(3);
      assertThat(resolver.resolve(container.id())).isEqualTo(byPid);
      assertThat(resolver.resolve("pid-" + process.pid() + "-1"))
          .isEqualTo(
              new Resolution.Refused(
                  "container pid-" + process.pid() + "-1: expected a running process, got none"));
    } finally {
      sleep.destroyForcibly().waitFor();
    }
  }

  /**
   * In cgroup v1 the kernel says of a process that is ending that it lies in the top cgroup, where
   * everybody is; the same is seen of one that was put into a part of the hierarchies only.
   */
  @Test
  void aCgroupThatDoesNotBearTheContainersIdIsNotItsOwn() throws IOException, InterruptedException {
    String id = UUID.randomUUID().toString().replace("-", "").repeat(2);
    Path hierarchy =
        proc.mounts((int) ProcessHandle.current().pid()).stream()
            .filter(mount -> mount.type().equals("cgroup2"))
            .map(mount -> Path.of(mount.mountPoint()))
            .findFirst()
            .orElseThrow();
    Path cgroup = Files.createDirectory(hierarchy.resolve(id));
    Process sleep = new ProcessBuilder("sleep", "100").start();
    try {
      Files.writeString(cgroup.resolve("cgroup.procs"), Long.toString(sleep.pid()));
      assertThat(new ContainerResolver(proc).resolve(id))
          .isInstanceOfSatisfying(
              Resolution.Found.class,
              found -> {
                assertThat(found.container().cgroups())
                    .extracting(Cgroup::folder)
                    .containsExactly(cgroup);
                ProcessTree.Listing listing = new ProcessTree(proc).list(found.container());
                assertThat(listing.members()).hasSize(1);
                assertThat(listing.foreign()).isEmpty();
              });
    } finally {
      sleep.destroyForcibly().waitFor();
      Files.delete(cgroup);
    }
  }

  @Test
  void anUnknownNameIsRefusedInOneSentence() {
    assertThat(resolver.resolve("0123456789abcdef0123"))
        .isEqualTo(
            new Resolution.Refused(
                "container 0123456789abcdef0123: expected one that runs on this node, got none"));
    assertThat(resolver.resolve("../etc"))
        .isEqualTo(
            new Resolution.Refused(
                "container ../etc: expected an id, a unique prefix of one, or a pid"));
  }

  @Test
  void idsAreReadFromThePathsOfEveryRuntime() {
    String id = "14d9140aa278d91e4985789082bb50dace71111406701f14515214b3998e7e89";
    for (String path :
        List.of(
            "/kubepods/besteffort/pod13e1ed98/" + id,
            "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope",
            "/kubepods.slice/crio-" + id + ".scope",
            "/kubepods.slice/crio-" + id + ".scope/container",
            "/docker/" + id,
            "/system.slice/docker-" + id + ".scope",
            "/machine.slice/libpod-" + id + ".scope/container")) {
      assertThat(ContainerName.runtimeId(List.of(membership(path)))).as(path).contains(id);
    }
    assertThat(ContainerName.runtimeId(List.of(membership("/x/crio-conmon-" + id + ".scope"))))
        .as("the watcher is not in the container")
        .isEmpty();
    assertThat(ContainerName.runtimeId(List.of(membership("/system.slice/ssh.service")))).isEmpty();
  }

  private static dev.stasis.agent.process.CgroupMembership membership(String path) {
    return new dev.stasis.agent.process.CgroupMembership(0, List.of(), path);
  }
}
