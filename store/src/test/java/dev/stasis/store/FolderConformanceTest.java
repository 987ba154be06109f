package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.Progress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FolderConformanceTest extends StoreConformance {
  @Override
  protected BlobStore emptyStore() throws Exception {
    return new FolderBlobs(Files.createDirectory(temp.resolve("store")));
  }

  @Test
  void aFileSystemWithoutSpaceIsFull() throws Exception {
    Path small = Files.createDirectory(temp.resolve("small-disk"));
    run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small.toString());
    try {
      RemoteArtifacts artifacts =
          new RemoteArtifacts(
              new FolderBlobs(small), KEYS, Compression.ZSTD, Clock.systemUTC(), 2, Duration.ZERO);

      assertThatThrownBy(() -> artifacts.store(FIRST, temp.resolve("artifact"), Progress.NONE))
          .isInstanceOf(StoreException.Full.class);

      assertThat(artifacts.list("ns-1")).isEmpty();
      assertThat(small.resolve(FolderBlobs.UNFINISHED)).isEmptyDirectory();
    } finally {
      run("umount", small.toString());
    }
  }

  /** The memory of a process below its first mapping reads as a bad sector does. */
  @Test
  void whatTheDiskCannotReadIsDamaged() throws Exception {
    Path store = Files.createDirectory(temp.resolve("disk"));
    FolderBlobs blobs = new FolderBlobs(store);
    RemoteArtifacts artifacts =
        new RemoteArtifacts(blobs, KEYS, Compression.ZSTD, Clock.systemUTC(), 2, Duration.ZERO);
    artifacts.store(FIRST, temp.resolve("artifact"), Progress.NONE);
    assertThat(artifacts.verify(FIRST, Progress.NONE).damages()).isEmpty();
    Blob pack =
        blobs.list("").stream().filter(it -> it.key().endsWith(".pack")).findFirst().orElseThrow();
    Path bad = store.resolve(pack.key());
    run("mount", "--bind", "/proc/" + ProcessHandle.current().pid() + "/mem", bad.toString());
    try {
      assertThatThrownBy(() -> blobs.get(pack.key(), 0, 1))
          .isInstanceOf(StoreException.Damaged.class)
          .hasMessageEndingWith("Input/output error");
      assertThat(artifacts.verify(FIRST, Progress.NONE).damages()).isNotEmpty();
    } finally {
      run("umount", bad.toString());
    }
  }

  @Test
  void aReadOnlyFileSystemIsReportedWithWhatToDo() throws Exception {
    Path disk = Files.createDirectory(temp.resolve("read-only"));
    run("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", disk.toString());
    try {
      assertThatThrownBy(() -> new FolderBlobs(disk).put("a", new byte[1]))
          .isInstanceOf(StoreException.AccessDenied.class)
          .hasMessageContaining("mount or export it with rw");
    } finally {
      run("umount", disk.toString());
    }
  }

  @Test
  void aLinkInTheStoreIsRefused() throws Exception {
    Path store = Files.createDirectory(temp.resolve("linked"));
    Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
    Files.createSymbolicLink(store.resolve("a"), elsewhere);
    FolderBlobs blobs = new FolderBlobs(store);

    assertThatThrownBy(() -> blobs.put("a/b", new byte[1]))
        .isInstanceOf(StoreException.Refused.class);
    assertThatThrownBy(() -> blobs.get("a/b", 0, 1)).isInstanceOf(StoreException.Refused.class);
    // It is not an empty folder: a collection would free every chunk.
    assertThatThrownBy(() -> blobs.list("a/")).isInstanceOf(StoreException.Refused.class);
    assertThatThrownBy(() -> blobs.put("../b", new byte[1]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(elsewhere).isEmptyDirectory();
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
