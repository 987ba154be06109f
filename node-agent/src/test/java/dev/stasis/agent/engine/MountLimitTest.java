package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.criu.ImageMount;
import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus.Ids;
import dev.stasis.agent.process.ThreadRights;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** criu makes no mount that the target's pod could not have made. */
class MountLimitTest {

  private static final ImageMount ROOT = new ImageMount(1, 0, "/", "", false, false);
  private static final ImageMount PROC = new ImageMount(2, 1, "/proc", "", true, false);
  private static final ImageMount SYS = part(3, 2, "/proc/sys", true);

  private static ImageMount part(int id, int parent, String path, boolean readOnly) {
    return new ImageMount(id, parent, path, "", true, readOnly);
  }

  private static Mount proc(String path, String options) {
    return new Mount(
        9, 8, 0, 5, "/", path, List.of(options), List.of(), "proc", "proc", List.of("rw"));
  }

  private static List<String> exceeded(long bounding, List<Mount> has, ImageMount... mounts) {
    ProcessId init = new ProcessId(42, 7);
    Container target =
        new Container(
            "target",
            init,
            init,
            List.of(),
            true,
            has,
            Map.of(),
            List.of(),
            Optional.empty(),
            0,
            0);
    Ids root = new Ids(0, 0, 0, 0);
    Capabilities capabilities = new Capabilities(0, 0, 0, bounding, 0);
    ThreadRights holder = new ThreadRights(42, root, root, List.of(), capabilities, false, 0, 0, 0);
    return new MountLimit(target, List.of(), new RightsLimit(holder, 0, -1L))
        .exceededBy(List.of(mounts)).stream().map(unmet -> unmet.property()).toList();
  }

  private static List<String> exceeded(ImageMount... mounts) {
    return exceeded(0, List.of(proc("/proc", "rw"), proc("/proc/sys", "ro")), mounts);
  }

  @Test
  void aWritablePartOfProcIsRefused() {
    assertThat(exceeded(ROOT, PROC, SYS)).isEmpty();
    assertThat(exceeded(ROOT, PROC)).containsExactly("mount /proc/sys in the images");
    assertThat(exceeded(ROOT, PROC, SYS, part(4, 3, "/proc/sys", false)))
        .containsExactly("mount /proc/sys in the images");
  }

  @Test
  void aReadOnlyPartThatProcItselfHidesDoesNotCount() {
    assertThat(exceeded(ROOT, PROC, part(3, 1, "/proc/sys", true)))
        .containsExactly("mount /proc/sys in the images");
    assertThat(exceeded(ROOT, PROC, SYS, part(5, 2, "/proc", false)))
        .containsExactly("mount /proc in the images");
  }

  /** The container toolkit's, which are named after the slot of a GPU. */
  @Test
  void aPartForAGpuIsNotNeededInTheSamePlace() {
    String gpu = "/proc/driver/nvidia/gpus/0000:%s:00.0";
    List<Mount> has =
        List.of(proc("/proc", "rw"), proc("/proc/sys", "ro"), proc(gpu.formatted("10"), "ro"));

    assertThat(exceeded(0, has, ROOT, PROC, SYS, part(6, 1, gpu.formatted("20"), true))).isEmpty();
  }

  @Test
  void aProcThatTheTargetHasInTheSamePlaceIsNotRefused() {
    List<Mount> has = List.of(proc("/proc", "rw"), proc("/host/proc", "rw"));

    assertThat(exceeded(0, has, ROOT, PROC, part(6, 1, "/host/proc", false))).isEmpty();
    assertThat(exceeded(ROOT, PROC, SYS, part(6, 1, "/host/proc", false)))
        .containsExactly("mount /host/proc in the images");
  }

  @Test
  void aPodThatMayMountMayHaveMounted() {
    long sysAdmin = 1L << Capabilities.SYS_ADMIN;

    assertThat(exceeded(sysAdmin, List.of(proc("/proc", "rw")), part(6, 1, "/mnt", false)))
        .isEmpty();
  }
}
