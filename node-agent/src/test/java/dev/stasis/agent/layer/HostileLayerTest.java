package dev.stasis.agent.layer;

import static dev.stasis.agent.layer.CraftedLayer.deletion;
import static dev.stasis.agent.layer.CraftedLayer.entry;
import static dev.stasis.agent.layer.CraftedLayer.file;
import static dev.stasis.agent.layer.CraftedLayer.folder;
import static dev.stasis.agent.layer.CraftedLayer.hardLink;
import static dev.stasis.agent.layer.CraftedLayer.symlink;
import static dev.stasis.agent.layer.OverlayRoots.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostileLayerTest {
  private static final VolumeGuard GUARD = new VolumeGuard(List.of(), TargetVolumes.none());
  private static final int RENAME_EXCHANGE = 2;

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

    assertThatThrownBy(this::unpack)
        .hasMessageContaining("path: expected a path inside its folder");
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
    archive(hardLink("mine", "../outside/x"));
    assertThatThrownBy(this::unpack)
        .hasMessageContaining("path: expected a path inside its folder");
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

    assertThatThrownBy(this::unpack)
        .hasMessageContaining("volume /data: expected a folder, got open");
    assertUntouched();
  }

  @Test
  void anIndexThatNamesAnArchiveElsewhereIsRefused() throws Exception {
    Files.writeString(
        archives.resolve("index.json"),
        "{\"parts\":[{\"target\":\"/\",\"archive\":\"../x.tar\",\"entries\":0,\"bytes\":0,"
            + "\"deleted\":[],\"leftOut\":[]}]}");

    assertThatThrownBy(this::unpack).hasMessageContaining("archive: expected a file's name");
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
      archive(file("x"));
    }
  }

  @Test
  void theOverlaysOwnAttributesAndForeignOnesOfFoldersAreNotCarriedOver() throws Exception {
    Files.createDirectory(target.resolve("d"));
    try (Handle root = Handle.ofTrusted(target);
        Handle folder = root.at("d")) {
      folder.setAttribute("user.old", new byte[] {1});
    }
    Map<String, byte[]> attributes =
        Map.of(
            "trusted.overlay.redirect",
            "/etc".getBytes(StandardCharsets.US_ASCII),
            "user.new",
            new byte[] {2},
            "security.selinux",
            "label".getBytes(StandardCharsets.US_ASCII));
    archive(entry("d", LayerEntry.Kind.FOLDER, "", 0, attributes));

    unpack();

    try (Handle root = Handle.ofTrusted(target);
        Handle folder = root.at("d")) {
      assertThat(folder.attributes()).containsOnlyKeys("user.new");
    }
  }

  @Test
  void aFullDiskIsSaidByPath() throws Exception {
    Path small = Files.createDirectory(temp.resolve("small"));
    run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString());
    try {
      Files.write(temp.resolve("data"), new byte[1 << 20]);
      try (PaxWriter writer = new PaxWriter(archives.resolve("root.tar"));
          Handle parent = Handle.ofTrusted(temp);
          Handle data = parent.file("data")) {
        CraftedLayer.write(writer, entry("big", LayerEntry.Kind.FILE, "", 1 << 20, Map.of()), data);
        writer.finish();
      }
      new CraftedLayer(archives).index("/", "root.tar");
      assertThatThrownBy(() -> new LayerUnpacker(List.of(), GUARD, 2).unpack(archives, small))
          .hasMessageContaining("No space left on device");
    } finally {
      run("umount", small.toString());
    }
  }

  /** Another container can share a volume with the frozen one, and runs. */
  @Test
  void aFileThatIsExchangedWithAFifoDoesNotBlockThePacking() throws Exception {
    Path file = Files.writeString(target.resolve("file"), "text");
    Path fifo = target.resolve("fifo");
    run("mkfifo", fifo.toString());
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<?> exchange =
          threads.submit(
              () -> {
                while (!done.get()) {
                  exchange(file, fifo);
                }
              });
      Future<?> packing = threads.submit(() -> packOften(done));
      assertThat(packing).succeedsWithin(Duration.ofSeconds(60));
      assertThat(exchange).succeedsWithin(Duration.ofSeconds(60));
    } finally {
      done.set(true);
      // Ends an open of the FIFO that waits for a writer.
      new RandomAccessFile((Files.isRegularFile(file) ? fifo : file).toFile(), "rw").close();
      threads.shutdownNow();
    }
  }

  private @Nullable Void packOften(AtomicBoolean done) throws IOException {
    try {
      for (int i = 0; i < 500; i++) {
        Path folder = Files.createDirectory(archives.resolve(Integer.toString(i)));
        new LayerPacker(List.of())
            .pack(null, temp, List.of("/target"), folder, Set.of(), bytes -> {});
      }
    } finally {
      done.set(true);
    }
    return null;
  }

  private static void exchange(Path one, Path other) {
    Function renameat2 = Function.getFunction("c", "renameat2");
    int failed =
        renameat2.invokeInt(
            new Object[] {
              LibC.AT_FDCWD, one.toString(), LibC.AT_FDCWD, other.toString(), RENAME_EXCHANGE
            });
    assertThat(failed).isZero();
  }

  @Test
  void onlyAFileIsOpenedForReading() throws Exception {
    run("mkfifo", target.resolve("fifo").toString());
    run("mknod", target.resolve("null").toString(), "c", "1", "3");
    try (Handle folder = Handle.ofTrusted(target);
        Handle fifo = folder.at("fifo")) {
      assertThatThrownBy(fifo::forReading).hasMessage("fifo: expected a file, got FIFO");
      assertThatThrownBy(() -> fifo.channel(StandardOpenOption.READ))
          .hasMessage("fifo: expected a file, got FIFO");
      assertThatThrownBy(() -> folder.file("null"))
          .hasMessage("null: expected a file, got CHARACTER_DEVICE");
    }
  }

  private void unpack() throws IOException {
    new LayerUnpacker(List.of("/"), GUARD, 2).unpack(archives, target);
  }

  private void assertUntouched() {
    assertThat(outside.resolve("x")).hasContent("untouched");
    assertThat(outside).isDirectoryNotContaining(path -> !path.endsWith("x"));
  }

  private void archive(LayerEntry... entries) throws IOException {
    new CraftedLayer(archives).of(entries);
  }
}
