package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountMatcherTest {

  private final MountMatcher matcher = new MountMatcher();
  @TempDir Path folder;
  private List<Mount> source = List.of();
  private List<Mount> target = List.of();

  @BeforeEach
  void readTheTablesOfRealGpuPods() throws IOException {
    source = sample("cdi-pod.mountinfo", line -> line);
    target = sample("cdi-target-pod.mountinfo", line -> line);
  }

  @Test
  void theTwoRealGpuPodsFit() {
    MountMatch match = matcher.match(source, target);

    assertThat(match).isInstanceOf(MountMatch.Matched.class);
    List<MountPair> pairs = ((MountMatch.Matched) match).pairs();
    assertThat(pairs).extracting(MountPair::source).contains("/dev", "/dev/shm", "/data");
    assertThat(pairs)
        .as("proc mounts and the root are criu's own")
        .extracting(MountPair::source)
        .doesNotContain("/", "/proc", "/proc/sys");
    assertThat(pairs)
        .filteredOn(MountPair::isMoved)
        .singleElement()
        .isEqualTo(
            new MountPair(
                "/run/nvidia-ctk-hook/b42c6603-c6c3-4e98-b37d-7ecfeb3eca28",
                "/run/nvidia-ctk-hook/40bd16f9-cad8-4eab-bf09-e6f0e9fc8cdb"));
    assertThat(pairs)
        .contains(new MountPair("/proc/driver/nvidia/params", "/proc/driver/nvidia/params"))
        .contains(new MountPair("/proc/keys", "/proc/keys"))
        .contains(new MountPair("/sys/firmware", "/sys/firmware"));
  }

  @Test
  void anotherDriverIsRefusedByItsVersionsAndNothingElse() throws IOException {
    target = sample("cdi-target-pod.mountinfo", line -> line.replace("580.159.04", "570.86.15"));

    assertThat(matcher.match(source, target))
        .hasToString("NVIDIA driver: wanted 580.159.04, found 570.86.15");
  }

  @Test
  void aTargetWithoutAGpuIsRefused() {
    target = target.stream().filter(mount -> !mount.mountPoint().contains("580.159.04")).toList();

    assertThat(matcher.match(source, target).toString())
        .startsWith("NVIDIA driver: wanted 580.159.04, found none");
  }

  @Test
  void aMountThatTheTargetLacksIsRefusedByName() {
    target = target.stream().filter(mount -> !mount.mountPoint().equals("/data")).toList();

    assertThat(matcher.match(source, target))
        .hasToString("mount /data: wanted ext4 from /dev/vda, found none");
  }

  @Test
  void aVolumeThatBecameReadOnlyIsRefused() {
    target =
        target.stream()
            .map(mount -> mount.mountPoint().equals("/data") ? readOnly(mount) : mount)
            .toList();

    assertThat(matcher.match(source, target))
        .hasToString("mount /data: wanted writable, found read-only");
  }

  @Test
  void aMaskedFileStaysMaskedWhereTheTargetDoesNotMaskIt() {
    target = target.stream().filter(mount -> !mount.mountPoint().equals("/proc/keys")).toList();

    assertThat(((MountMatch.Matched) matcher.match(source, target)).pairs())
        .contains(new MountPair("/proc/keys", "/dev/null"));
  }

  @Test
  void whatOnlyTheTargetHasIsNoMatterOfTheSource() {
    List<Mount> more = new ArrayList<>(target);
    more.addAll(source);

    assertThat(matcher.match(target.stream().filter(this::isKnown).toList(), more))
        .isInstanceOf(MountMatch.Matched.class);
  }

  private boolean isKnown(Mount mount) {
    return source.stream().anyMatch(other -> other.mountPoint().equals(mount.mountPoint()));
  }

  private static Mount readOnly(Mount mount) {
    return new Mount(
        mount.id(),
        mount.parentId(),
        mount.major(),
        mount.minor(),
        mount.root(),
        mount.mountPoint(),
        List.of("ro"),
        mount.optionalFields(),
        mount.type(),
        mount.source(),
        mount.superOptions());
  }

  private List<Mount> sample(String name, UnaryOperator<String> change) throws IOException {
    Path process = Files.createDirectories(folder.resolve("1"));
    String text = Files.readString(Path.of("src/test/resources/samples", name));
    Files.writeString(process.resolve("mountinfo"), change.apply(text));
    return new ProcFs(folder).mounts(1);
  }
}
