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
        .hasToString("NVIDIA driver: expected 580.159.04, got 570.86.15");
  }

  @Test
  void aTargetWithoutAGpuIsRefused() {
    target = target.stream().filter(mount -> !mount.mountPoint().contains("580.159.04")).toList();

    assertThat(matcher.match(source, target).toString())
        .startsWith("NVIDIA driver: expected 580.159.04, got none");
  }

  @Test
  void aMountThatTheTargetLacksIsRefusedByName() {
    target = target.stream().filter(mount -> !mount.mountPoint().equals("/data")).toList();

    assertThat(matcher.match(source, target))
        .hasToString("mount /data: expected ext4 from /dev/vda, got none");
  }

  @Test
  void aPathThatContinuesAnOptionOfCriuIsRefused() {
    String path = "/proc/x]:/root/evil";
    source =
        List.of(
            new Mount(
                9, 8, 0, 5, "/null", path, List.of(), List.of(), "devtmpfs", "dev", List.of()));

    assertThat(matcher.match(source, target)).isInstanceOf(MountMatch.Refused.class);
  }

  @Test
  void aVolumeThatBecameReadOnlyIsRefused() {
    target =
        target.stream()
            .map(mount -> mount.mountPoint().equals("/data") ? readOnly(mount) : mount)
            .toList();

    assertThat(matcher.match(source, target))
        .hasToString("mount /data: expected writable, got read-only");
  }

  @Test
  void aMaskedFileStaysMaskedWhereTheTargetDoesNotMaskIt() {
    target = target.stream().filter(mount -> !mount.mountPoint().equals("/proc/keys")).toList();

    assertThat(((MountMatch.Matched) matcher.match(source, target)).pairs())
        .contains(new MountPair("/proc/keys", "/dev/null"));
  }

  @Test
  void aMaskedFolderStaysMaskedWhereTheTargetDoesNotMaskIt() {
    List<Mount> more = new ArrayList<>(source);
    for (String place : List.of("/sys/firmware", "/sys/devices/virtual/powercap")) {
      more.add(masked(place));
    }
    List<Mount> older = new ArrayList<>(target);
    older.removeIf(mount -> mount.mountPoint().equals("/sys/devices/virtual/powercap"));
    older.removeIf(mount -> mount.mountPoint().equals("/sys/firmware"));
    older.add(masked("/sys/firmware"));

    assertThat(((MountMatch.Matched) matcher.match(more, older)).pairs())
        .filteredOn(pair -> pair.source().equals("/sys/devices/virtual/powercap"))
        .singleElement()
        .satisfies(
            pair ->
                assertThat(older)
                    .filteredOn(mount -> mount.mountPoint().equals(pair.target()))
                    .singleElement()
                    .matches(mount -> mount.type().equals("tmpfs") && mount.isReadOnly()));
  }

  private static Mount masked(String place) {
    return new Mount(
        1, 1, 0, 9, "/", place, List.of("ro"), List.of(), "tmpfs", "tmpfs", List.of("ro"));
  }

  @Test
  void aMountThatOnlyTheTargetHasIsIgnored() {
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
