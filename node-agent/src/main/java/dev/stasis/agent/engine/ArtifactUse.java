package dev.stasis.agent.engine;

import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.JournalReading;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folders of a store on which operations on this node depend: a frozen process may have the
 * only copy of its memory there, even if the artifact's object is gone.
 */
public final class ArtifactUse {

  private final WorkJournal works;
  private final JournalReader regions;
  private final String bootId;

  ArtifactUse(WorkJournal works, JournalReader regions, String bootId) {
    this.works = works;
    this.regions = regions;
    this.bootId = bootId;
  }

  /**
   * Returns which operation needs a folder, as a sentence; empty if it may be deleted.
   *
   * @param folder an artifact, or a staging folder
   */
  public Optional<String> of(Path folder) {
    Path real = real(folder);
    return works.all().stream()
        .filter(work -> needs(work, real))
        .findFirst()
        .map(
            work ->
                "%s of container %s for %s, phase %s"
                    .formatted(work.kind(), work.containerId(), work.owner(), work.phase()));
  }

  private boolean needs(Work work, Path folder) {
    if (work.phase() == Work.Phase.UNKNOWN) {
      return true; // An unreadable journal may concern any folder.
    }
    if (!work.bootId().equals(bootId)) {
      return false; // Its processes ended with their boot.
    }
    return named(work).filter(Objects::nonNull).anyMatch(name -> isIn(folder, Path.of(name)))
        || work.regionJournals().stream().anyMatch(name -> isStage(folder, Path.of(name)));
  }

  /** The folders that a record of this phase needs. */
  private static Stream<@Nullable String> named(Work work) {
    return switch (work.phase()) {
      case WORKING, HELD -> Stream.of(work.artifact(), work.artifactStage(), work.stage());
      // A later attempt, or a successor of its agent, may complete the artifact.
      case PUBLISHING, SUSPENDED -> Stream.of(work.artifactStage(), work.stage());
      case ENDING, UNKNOWN -> Stream.empty();
    };
  }

  private boolean isStage(Path folder, Path journal) {
    return regions.read(journal) instanceof JournalReading.Read read
        && !read.whole()
        && isIn(folder, read.journal().stage());
  }

  private static boolean isIn(Path folder, Path named) {
    return real(named).startsWith(folder);
  }

  /** The real path; of a missing path, the given one. */
  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }
}
