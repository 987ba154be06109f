package dev.stasis.agent.engine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/**
 * Updates journals after the publication of an artifact. A stage in the store is the artifact's own
 * data, and publication renames its folder. A workload that is held longer can only be thawed if
 * its journals name the new path.
 */
final class StageRelocation {

  private static final String STAGE = " stage=";

  private final Work work;

  StageRelocation(Work work) {
    this.work = work;
  }

  /** Changes each journal with a missing stage to the same file in the artifact, if it exists. */
  void follow() throws StepFailure {
    @Nullable String artifact = work.artifact();
    if (artifact == null) {
      return;
    }
    for (String journal : work.regionJournals()) {
      try {
        follow(Path.of(journal), Path.of(artifact));
      } catch (IOException e) {
        throw new StepFailure(
            Reason.REGION_MOVE, "journal %s: %s".formatted(journal, e.getMessage()), e);
      }
    }
  }

  private void follow(Path journal, Path artifact) throws IOException {
    if (!Files.exists(journal)) {
      return;
    }
    Path fresh = journal.resolveSibling(journal.getFileName() + ".new");
    try (InputStream in = Files.newInputStream(journal)) {
      String header = firstLine(in);
      int at = header.indexOf(STAGE);
      if (at < 0) {
        return; // Without a complete first line nothing was dropped.
      }
      Path stage = Path.of(header.substring(at + STAGE.length()));
      @Nullable String staging = work.artifactStage();
      if (staging == null || !stage.startsWith(staging) || Files.exists(stage)) {
        return;
      }
      Path now = artifact.resolve(Path.of(staging).relativize(stage));
      if (!Files.exists(now)) {
        return; // The fill will report what is missing.
      }
      try (OutputStream out = Files.newOutputStream(fresh)) {
        out.write((header.substring(0, at) + STAGE + now + "\n").getBytes(StandardCharsets.UTF_8));
        in.transferTo(out);
      }
    }
    Files.move(fresh, journal, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static String firstLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8);
  }
}
