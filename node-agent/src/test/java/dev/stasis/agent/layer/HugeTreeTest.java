package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No tree of files exhausts the agent's heap: it is packed, or refused by name. */
class HugeTreeTest {

  /** A tenth of the agent's. */
  private static final String HEAP = "-Xmx32m";

  /** Too small for 48,000 names of 245 bytes beside the program itself, which needs 8 to 12 MiB. */
  private static final String SMALLER_HEAP = "-Xmx20m";

  /** What the child needs: of each library, Java keeps the names of its files in the heap. */
  private static final String CLASS_PATH =
      Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
          .filter(
              entry ->
                  Files.isDirectory(Path.of(entry))
                      || Path.of(entry).getFileName().toString().matches("(jna|jackson|stasis)-.*"))
          .collect(Collectors.joining(File.pathSeparator));

  @TempDir Path temp = Path.of("/");
  private Path tree = temp;
  private Path archives = temp;

  @BeforeEach
  void makeFolders() throws IOException {
    tree = Files.createDirectories(temp.resolve("root/data"));
    archives = Files.createDirectory(temp.resolve("archives"));
  }

  /** JUnit's own way takes minutes for folders that are nested this deep. */
  @AfterEach
  void deleteQuickly() throws Exception {
    OverlayRoots.run("rm", "-rf", tree.toString(), temp.resolve("target").toString());
  }

  @Tag("long")
  @Test
  void aFolderOfMoreNamesThanThereIsMemoryIsPackedAndUnpackedInASmallHeap() throws Exception {
    packAndUnpackLongNames(120_000, HEAP);
  }

  @Test
  void aFolderOfMoreNamesThanThereIsMemoryIsPackedAndUnpackedInASmallerHeap() throws Exception {
    packAndUnpackLongNames(48_000, SMALLER_HEAP);
  }

  /** In a tmpfs: ext4 takes five times as much processor time for so many names in a folder. */
  private void packAndUnpackLongNames(int files, String heap) throws Exception {
    Path memory = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-names");
    try {
      Path source = Files.createDirectories(memory.resolve("source/data"));
      String longName = "n".repeat(240);
      for (int i = 0; i < files; i++) {
        Files.createFile(source.resolve(longName + i));
      }

      assertThat(child(heap, "pack", memory.resolve("source")))
          .contains("packed " + (files + 1) + " entries");

      Path target = Files.createDirectories(memory.resolve("target/data"));
      Files.createFile(target.resolve("older"));
      assertThat(child(heap, "unpack", memory.resolve("target")))
          .contains("unpacked " + (files + 1) + " entries");
      try (var names = Files.list(target)) {
        assertThat(names.count()).isEqualTo(files);
      }
    } finally {
      OverlayRoots.run("rm", "-rf", memory.toString());
    }
  }

  @Test
  void theLargestMapOfHolesIsWrittenAndReadInASmallHeap() throws Exception {
    assertThat(child("map", tree)).contains("read 440000 extents");
  }

  @Test
  void aFileWithMoreHolesThanAMapMayHaveIsRefusedByName() throws Exception {
    LayerEntry file = CraftedLayer.entry("holes", LayerEntry.Kind.FILE, "", 1L << 50, Map.of());

    assertThatThrownBy(() -> SparseMap.of(file, SmallHeapChild.holes(Long.MAX_VALUE)))
        .hasMessage("holes: expected a file with at most about 400,000 holes, got more");
  }

  @Test
  void aSparseFileComesBackWithItsHoles() throws Exception {
    Path file = tree.resolve("holes");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      for (int i = 0; i < 2000; i++) {
        sparse.seek(i * 16384L + 1_000_000_000L);
        sparse.write(7);
      }
    }

    assertThat(pack()).contains("packed 2 entries");

    Path target = Files.createDirectories(temp.resolve("target/data"));
    assertThat(child("unpack", temp.resolve("target"))).contains("unpacked 2 entries");
    assertThat(Files.mismatch(file, target.resolve("holes"))).isEqualTo(-1);
    try (Handle folder = Handle.ofTrusted(target);
        Handle copy = folder.file("holes")) {
      assertThat(copy.stat().allocated()).isLessThan(64 << 20);
    }
  }

  @Test
  void moreHardLinksThanAreRememberedAreRefusedByName() throws Exception {
    assertThat(child("links", tree)).contains("refused a/a/").contains("hard links");
    assertThat(tree).isEmptyDirectory();
  }

  @Test
  void foldersAsDeepAsAPathMayBeArePackedAndUnpacked() throws Exception {
    nest(1900);

    assertThat(pack()).contains("packed 1901 entries");

    Files.createDirectories(temp.resolve("target/data"));
    assertThat(child("unpack", temp.resolve("target"))).contains("unpacked 1901 entries");
    // What lies in a target already is deleted first, unless that would take too much of the stack.
    assertThat(child("unpack", temp.resolve("target"))).contains("at most 500 levels deep");
  }

  @Test
  void deepFoldersOfTheTargetAreDeleted() throws Exception {
    nest(400);
    assertThat(pack()).contains("packed 401 entries");
    Files.createDirectories(temp.resolve("target/data"));

    assertThat(child("unpack", temp.resolve("target"))).contains("unpacked 401 entries");
    assertThat(child("unpack", temp.resolve("target"))).contains("unpacked 401 entries");
  }

  @Test
  void aPathThatCouldNotBeRestoredIsRefusedByName() throws Exception {
    nest(2100);

    assertThat(pack()).contains("refused a/a/a").contains("at most 4095 bytes");
  }

  private void nest(int depth) throws IOException {
    Handle at = Handle.ofTrusted(tree);
    for (int i = 0; i < depth; i++) {
      try (Handle above = at) {
        above.createFolder("a");
        at = above.folder("a");
      }
    }
    at.close();
  }

  private String pack() throws Exception {
    return child("pack", Objects.requireNonNull(tree.getParent()));
  }

  private String child(String what, Path root) throws Exception {
    return child(HEAP, what, root);
  }

  private String child(String heap, String what, Path root) throws Exception {
    Process child =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    heap,
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-cp",
                    CLASS_PATH,
                    SmallHeapChild.class.getName(),
                    what,
                    root.toString(),
                    archives.toString()))
            .redirectErrorStream(true)
            .start();
    String said = new String(child.getInputStream().readAllBytes());
    // Seconds are usual; a busy machine is given time.
    assertThat(child.waitFor(240, TimeUnit.SECONDS)).isTrue();
    return said;
  }
}
