package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both versions of cgroups on any machine: files laid out as the kernel lays them out. */
class FrozenCgroupsTest {

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init")
  private Path pod;

  @BeforeEach
  void layOut() throws IOException {
    pod = Files.createDirectories(folder.resolve("cgroup/kubepods/pod"));
    Files.createDirectories(folder.resolve("proc/7"));
  }

  @Test
  void theFreezerOfV1IsAsked() throws IOException {
    FrozenCgroups cgroups = v1("12:freezer:/kubepods/pod\n3:memory:/elsewhere\n0::/\n");

    write(pod, "freezer.state", "THAWED");
    assertThat(cgroups.frozen(7)).isEmpty();
    write(pod, "freezer.state", "FREEZING");
    assertThat(cgroups.frozen(7)).contains(pod);
    write(pod, "freezer.state", "FROZEN");
    assertThat(cgroups.frozen(7)).contains(pod);
  }

  @Test
  void v2TellsThatAllAreFrozen() throws IOException {
    FrozenCgroups cgroups = v2("0::/kubepods/pod\n", "/");

    write(pod, "cgroup.events", "populated 1\nfrozen 0");
    write(pod, "cgroup.freeze", "0");
    assertThat(cgroups.frozen(7)).isEmpty();
    write(pod, "cgroup.events", "populated 1\nfrozen 1");
    assertThat(cgroups.frozen(7)).contains(pod);
  }

  @Test
  void aFreezeUnderWayAboveCountsInV2() throws IOException {
    FrozenCgroups cgroups = v2("0::/kubepods/pod\n", "/");
    write(pod, "cgroup.events", "populated 1\nfrozen 0");
    write(pod, "cgroup.freeze", "0");
    write(folder.resolve("cgroup/kubepods"), "cgroup.freeze", "1");

    assertThat(cgroups.frozen(7)).contains(folder.resolve("cgroup/kubepods"));
  }

  @Test
  void aHierarchyThatIsMountedFromInsideIsFollowed() throws IOException {
    FrozenCgroups cgroups = v2("0::/outer/kubepods/pod\n", "/outer");
    write(pod, "cgroup.events", "frozen 1");

    assertThat(cgroups.frozen(7)).contains(pod);
  }

  @Test
  void aProcessThatIsGoneOrInTheRootIsNotFrozen() throws IOException {
    assertThat(v2("0::/\n", "/").frozen(7)).isEmpty();
    assertThat(v2("0::/\n", "/").frozen(8)).isEmpty();
    assertThat(v1("12:freezer:/gone\n").frozen(7)).isEmpty();
  }

  private FrozenCgroups v1(String membership) throws IOException {
    return cgroups(membership, "cgroup", "/", List.of("rw", "freezer"));
  }

  private FrozenCgroups v2(String membership, String root) throws IOException {
    return cgroups(membership, "cgroup2", root, List.of("rw"));
  }

  private FrozenCgroups cgroups(String membership, String type, String root, List<String> options)
      throws IOException {
    Files.writeString(folder.resolve("proc/7/cgroup"), membership);
    Mount mount =
        new Mount(
            1,
            0,
            0,
            30,
            root,
            folder.resolve("cgroup").toString(),
            List.of("rw"),
            List.of(),
            type,
            "cgroup",
            options);
    return new FrozenCgroups(new ProcFs(folder.resolve("proc")), List.of(mount));
  }

  private static void write(Path cgroup, String name, String text) throws IOException {
    Files.writeString(cgroup.resolve(name), text + "\n");
  }
}
