package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What has reached the disk, as the JVM records it: a fake in its place could not tell. */
class DurabilityTest {
  @TempDir Path temp = Path.of("/");
  private final Samples samples = new Samples();

  /** Every file and folder below this one, by its path relative to it. */
  private static Set<String> allBelow(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.map(file -> folder.relativize(file).toString()).collect(Collectors.toSet());
    }
  }

  /** The paths that were forced to the disk during the work. */
  private <T> List<Path> forced(Callable<T> work) throws Exception {
    Path dump = temp.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.FileForce").withoutThreshold();
      recording.start();
      work.call();
      recording.stop();
      recording.dump(dump);
    }
    return RecordingFile.readAllEvents(dump).stream()
        .filter(event -> event.getEventType().getName().equals("jdk.FileForce"))
        .map(event -> Path.of(event.getString("path")).normalize())
        .toList();
  }

  @Test
  void everyFileAndFolderOfAnArtifactReachesTheDiskAndItsParentToo() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("store"));

    List<Path> forced =
        forced(() -> samples.sealed(new ArtifactStore(folder, Clock.systemUTC()), "a", temp));

    Set<String> reached =
        forced.stream()
            .filter(path -> path.startsWith(folder) && !path.equals(folder))
            // Under its name in the making.
            .map(path -> folder.relativize(path))
            .map(path -> path.getNameCount() > 1 ? "" + path.subpath(1, path.getNameCount()) : "")
            .collect(Collectors.toSet());
    assertThat(reached).containsAll(allBelow(folder.resolve("a")));
    assertThat(forced.get(forced.size() - 1)).isEqualTo(folder);
  }

  @Test
  void aDeferredSyncReachesTheDisk() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("store"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    samples.sealed(store, "a", temp);

    List<Path> forced =
        forced(
            () -> {
              store.sync("a");
              return store;
            });

    Path artifact = folder.resolve("a");
    assertThat(forced)
        .containsAll(
            allBelow(artifact).stream().map(artifact::resolve).map(Path::normalize).toList())
        .contains(folder);
  }

  @Test
  void theNameOfADeletedArtifactIsGoneFromTheDiskBeforeItsContent() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("store"));
    FailingFiles files = FailingFiles.at(Integer.MAX_VALUE, "");
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC(), files);
    samples.sealed(store, "a", temp);
    files.calls().clear();

    List<Path> forced =
        forced(
            () -> {
              store.delete("a");
              return store;
            });

    assertThat(files.calls())
        .filteredOn(call -> !call.endsWith(".owner"))
        .containsExactly("rename STAGING", "sync store", "delete STAGING");
    assertThat(forced).containsExactly(folder);
    assertThat(allBelow(folder)).containsExactly("");
  }
}
