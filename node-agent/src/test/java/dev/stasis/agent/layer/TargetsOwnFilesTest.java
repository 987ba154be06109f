package dev.stasis.agent.layer;

import static dev.stasis.agent.layer.CraftedLayer.deletion;
import static dev.stasis.agent.layer.CraftedLayer.file;
import static dev.stasis.agent.layer.CraftedLayer.folder;
import static dev.stasis.agent.layer.CraftedLayer.opaque;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetsOwnFilesTest {
  private static final VolumeGuard GUARD = new VolumeGuard(List.of(), TargetVolumes.none());

  @TempDir Path temp = Path.of("/");
  private Path outside = temp;
  private Path target = temp;
  private Path archives = temp;

  @BeforeEach
  void makeATargetAndSomethingOutside() throws IOException {
    outside = Files.createDirectory(temp.resolve("outside"));
    Files.writeString(outside.resolve("x"), "untouched");
    target = Files.createDirectory(temp.resolve("target"));
    archives = Files.createDirectory(temp.resolve("archives"));
  }

  @Test
  void mountsOfTheHolderStayWhatTheyWere() throws Exception {
    for (String folder : List.of("etc", "data/mounted")) {
      Files.createDirectories(target.resolve(folder));
    }
    Files.createFile(target.resolve("etc/hosts"));
    // Its mounts are in its own namespace, where unlinking their mount points from here would
    // take them away.
    Process holder =
        new ProcessBuilder(
                "unshare",
                "-m",
                "--propagation",
                "private",
                "sh",
                "-c",
                "mount --bind \"$0/x\" \"$1/etc/hosts\" && mount --bind \"$0\" \"$1/data/mounted\""
                    + " && echo mounted && exec cat",
                outside.toString(),
                target.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("mounted");
      Path seen = Path.of("/proc/" + holder.pid() + "/root" + target);
      new CraftedLayer(archives)
          .of(
              folder("etc"),
              file("etc/hosts"),
              deletion("etc/hosts"),
              opaque("data"),
              file("data/mounted/x"),
              deletion("data/mounted"),
              file("data/new"));

      // Not even told where the mounts are.
      LayerUnpacker.Unpacked unpacked =
          new LayerUnpacker(List.of(), GUARD, 2).unpack(archives, seen);

      assertThat(unpacked.leftAlone())
          .contains(
              "etc/hosts: a mount point",
              "data/mounted: a mount point",
              "data/mounted/x: below a mount point");
      assertThat(seen.resolve("etc/hosts")).hasContent("untouched");
      assertThat(seen.resolve("data/mounted/x")).hasContent("untouched");
      assertThat(seen.resolve("data/new")).exists();
      assertThat(outside.resolve("x")).hasContent("untouched");
    } finally {
      holder.destroy();
      holder.waitFor();
    }
  }

  @Test
  void theTargetsOwnHookFilesStay() throws Exception {
    Files.createDirectories(target.resolve("etc"));
    Files.writeString(target.resolve("etc/ld.so.cache"), "of the target");
    new CraftedLayer(archives).of(opaque("etc"), file("etc/ld.so.cache"), file("etc/passwd"));

    new LayerUnpacker(List.of("/usr/lib/libcuda.so.580"), GUARD, 2).unpack(archives, target);

    assertThat(target.resolve("etc/ld.so.cache")).hasContent("of the target");
    assertThat(target.resolve("etc/passwd")).hasContent("evil");
  }
}
