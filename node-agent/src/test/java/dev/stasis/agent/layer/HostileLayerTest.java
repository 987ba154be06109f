package dev.stasis.agent.layer;

import static dev.stasis.agent.layer.OverlayRoots.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostileLayerTest {
  @TempDir Path temp = Path.of("/");
  private Path outside = temp;
  private Path target = temp;
  private Path archives = temp;

  @BeforeEach
  void makeATargetAndSomethingOutside() throws Exception {
    outside = Files.createDirectory(temp.resolve("outside"));
    Files.writeString(outside.resolve("x"), "untouched");
    target = Files.createDirectory(temp.resolve("target"));
    archives = Files.createDirectory(temp.resolve("archives"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/etc/passwd",
        "../outside/x",
        "a/../../outside/x",
        "a//b",
        "a/./b",
        "",
        "..",
        "a/",
        "./a"
      })
  void aPathThatCouldLeaveTheFolderIsRefused(String path) throws Exception {
    archive(file(path));

    assertThatThrownBy(this::unpack).hasMessageContaining("path: wanted one below its folder");
    assertUntouched();
  }

  @Test
  void aLinkOfTheArchiveIsNotFollowed() throws Exception {
    archive(symlink("d", outside.toString()), file("d/x"));

    assertThatThrownBy(this::unpack).hasMessageContaining("d/x: ");
    assertUntouched();
  }

  @Test
  void aRelativeLinkOfTheArchiveIsNotFollowed() throws Exception {
    archive(symlink("d", "../outside"), deletion("d/x"));

    assertThatThrownBy(this::unpack).hasMessageContaining("d/x: ");
    assertUntouched();
  }

  @Test
  void aHardLinkThroughALinkIsRefused() throws Exception {
    archive(symlink("d", outside.toString()), hardLink("mine", "d/x"));

    assertThatThrownBy(this::unpack).hasMessageContaining("mine: ");
    archiveAgain(hardLink("mine", "../outside/x"));
    assertThatThrownBy(this::unpack).hasMessageContaining("path: wanted one below its folder");
    assertUntouched();
  }

  @Test
  void aHardLinkToALinkLinksTheLink() throws Exception {
    archive(symlink("link", outside.resolve("x").toString()), hardLink("mine", "link"));

    unpack();

    assertThat(Files.isSymbolicLink(target.resolve("mine"))).isTrue();
    assertUntouched();
  }

  @Test
  void aLinkOfTheTargetInAFoldersPlaceIsReplacedNotFollowed() throws Exception {
    Files.createSymbolicLink(target.resolve("d"), outside);
    archive(folder("d"), file("d/x"));

    unpack();

    assertThat(target.resolve("d/x")).hasContent("evil");
    assertThat(Files.isSymbolicLink(target.resolve("d"))).isFalse();
    assertUntouched();
  }

  @Test
  void aLinkOfTheTargetInAFilesPlaceIsReplacedNotFollowed() throws Exception {
    Files.createSymbolicLink(target.resolve("f"), outside.resolve("x"));
    Files.createSymbolicLink(target.resolve("gone"), outside);
    archive(file("f"), deletion("gone"));

    unpack();

    assertThat(target.resolve("f")).isRegularFile().hasContent("evil");
    assertThat(Files.exists(target.resolve("gone"), LinkOption.NOFOLLOW_LINKS)).isFalse();
    assertUntouched();
  }

  @Test
  void aVolumesPathIsResolvedWithinTheContainer() throws Exception {
    Files.createSymbolicLink(target.resolve("data"), outside);
    new LayerIndex(
            List.of(new LayerIndex.Part("/data", "volume-1.tar", 1, 1, List.of(), List.of())))
        .write(archives);
    try (PaxWriter writer = new PaxWriter(archives.resolve("volume-1.tar"))) {
      writer.finish();
    }

    assertThatThrownBy(this::unpack).hasMessageContaining("/data of the target: open");
    assertUntouched();
  }

  @Test
  void anIndexThatNamesAnArchiveElsewhereIsRefused() throws Exception {
    Files.writeString(
        archives.resolve("index.json"),
        "{\"parts\":[{\"target\":\"/\",\"archive\":\"../x.tar\",\"entries\":0,\"bytes\":0,"
            + "\"deleted\":[],\"leftOut\":[]}]}");

    assertThatThrownBy(this::unpack).hasMessageContaining("archive: wanted a file's name");
  }

  @Test
  void everyFlippedByteIsRefusedOrHarmless() throws Exception {
    archive(folder("d"), file("d/x"), symlink("d/l", "x"), hardLink("d/y", "d/x"));
    Path archive = archives.resolve("root.tar");
    byte[] good = Files.readAllBytes(archive);
    int refused = 0;
    for (int at = 0; at < good.length; at += 7) {
      byte[] bad = good.clone();
      bad[at] ^= 0x55;
      Files.write(archive, bad);
      try {
        unpack();
      } catch (IOException e) {
        refused++;
      }
      assertUntouched();
    }
    assertThat(refused).isGreaterThan(100);
  }

  @Test
  void aTruncatedArchiveIsRefused() throws Exception {
    archive(file("x"));
    Path archive = archives.resolve("root.tar");
    long whole = Files.size(archive);
    for (long size = 0; size < whole - 512; size += 256) {
      try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
        file.setLength(size);
      }
      assertThatThrownBy(this::unpack).as("%d bytes", size).isInstanceOf(IOException.class);
      archiveAgain(file("x"));
    }
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
      archive(
          folder("etc"),
          file("etc/hosts"),
          deletion("etc/hosts"),
          opaque("data"),
          file("data/mounted/x"),
          deletion("data/mounted"),
          file("data/new"));

      // Not even told where the mounts are.
      LayerUnpacker.Unpacked unpacked = new LayerUnpacker(List.of()).unpack(archives, seen);

      assertThat(unpacked.leftAlone())
          .contains(
              "etc/hosts: a mount point",
              "data/mounted: a mount point",
              "data/mounted/x: below a mount point");
      assertThat(seen.resolve("etc/hosts")).hasContent("untouched");
      assertThat(seen.resolve("data/mounted/x")).hasContent("untouched");
      assertThat(seen.resolve("data/new")).exists();
      assertUntouched();
    } finally {
      holder.destroy();
      holder.waitFor();
    }
  }

  @Test
  void theTargetsOwnHookFilesStay() throws Exception {
    Files.createDirectories(target.resolve("etc"));
    Files.writeString(target.resolve("etc/ld.so.cache"), "of the target");
    archive(opaque("etc"), file("etc/ld.so.cache"), file("etc/passwd"));

    new LayerUnpacker(List.of("/usr/lib/libcuda.so.580")).unpack(archives, target);

    assertThat(target.resolve("etc/ld.so.cache")).hasContent("of the target");
    assertThat(target.resolve("etc/passwd")).hasContent("evil");
  }

  @Test
  void aFullDiskIsSaidByPath() throws Exception {
    Path small = Files.createDirectory(temp.resolve("small"));
    run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString());
    try {
      Path data = Files.write(temp.resolve("data"), new byte[1 << 20]);
      try (PaxWriter writer = new PaxWriter(archives.resolve("root.tar"));
          FileChannel bytes = FileChannel.open(data, StandardOpenOption.READ)) {
        writer.write(entry("big", LayerEntry.Kind.FILE, "", 1 << 20, Map.of()), bytes);
        writer.finish();
      }
      index();
      assertThatThrownBy(() -> new LayerUnpacker(List.of()).unpack(archives, small))
          .hasMessageContaining("No space left on device");
    } finally {
      run("umount", small.toString());
    }
  }

  private void unpack() throws IOException {
    new LayerUnpacker(List.of("/")).unpack(archives, target);
  }

  private void assertUntouched() {
    assertThat(outside.resolve("x")).hasContent("untouched");
    assertThat(outside).isDirectoryNotContaining(path -> !path.endsWith("x"));
  }

  private void archiveAgain(LayerEntry... entries) throws IOException {
    Files.delete(archives.resolve("root.tar"));
    archive(entries);
  }

  private void archive(LayerEntry... entries) throws IOException {
    Path evil = Files.writeString(temp.resolve("evil"), "evil");
    try (PaxWriter writer = new PaxWriter(archives.resolve("root.tar"));
        FileChannel bytes = FileChannel.open(evil, StandardOpenOption.READ)) {
      for (LayerEntry entry : entries) {
        writer.write(entry, entry.size() > 0 ? bytes : null);
      }
      writer.finish();
    }
    index();
  }

  private void index() throws IOException {
    new LayerIndex(List.of(new LayerIndex.Part("/", "root.tar", 1, 1, List.of(), List.of())))
        .write(archives);
  }

  private static LayerEntry file(String path) {
    return entry(path, LayerEntry.Kind.FILE, "", 4, Map.of());
  }

  private static LayerEntry folder(String path) {
    return entry(path, LayerEntry.Kind.FOLDER, "", 0, Map.of());
  }

  private static LayerEntry opaque(String path) {
    Map<String, byte[]> opaque = Map.of(LayerEntry.OPAQUE, new byte[] {'y'});
    return entry(path, LayerEntry.Kind.FOLDER, "", 0, opaque);
  }

  private static LayerEntry symlink(String path, String to) {
    return entry(path, LayerEntry.Kind.SYMLINK, to, 0, Map.of());
  }

  private static LayerEntry hardLink(String path, String to) {
    return entry(path, LayerEntry.Kind.HARD_LINK, to, 0, Map.of());
  }

  private static LayerEntry deletion(String path) {
    return entry(path, LayerEntry.Kind.CHARACTER_DEVICE, "", 0, Map.of());
  }

  private static LayerEntry entry(
      String path, LayerEntry.Kind kind, String link, long size, Map<String, byte[]> attributes) {
    List<LayerEntry.Extent> extents =
        size == 0 ? List.of() : List.of(new LayerEntry.Extent(0, size));
    return new LayerEntry(path, kind, 0644, 0, 0, 1, 0, link, 0, 0, attributes, size, extents);
  }
}
