package dev.stasis.agent.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The files of a stage in memory. Those of a stage in an artifact belong to the artifact. */
final class StageFiles {

  private final FrozenWork frozen;

  StageFiles(FrozenWork frozen) {
    this.frozen = frozen;
  }

  /** Removes the stage, unless one of its files is an only copy. */
  void remove() throws IOException {
    @Nullable String name = frozen.work().stage();
    if (name == null) {
      return;
    }
    Path stage = Path.of(name);
    if (!stage.startsWith(frozen.node().memoryStage()) || !Files.exists(stage)) {
      return;
    }
    try (Stream<Path> entries = Files.walk(stage)) {
      for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
    }
  }
}
