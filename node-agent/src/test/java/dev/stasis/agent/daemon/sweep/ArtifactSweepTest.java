package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactSweepTest {

  private static final Duration GRACE = Duration.ofHours(1);
  private static final String STORE = "uid-of-the-store";
  private static final Function<Set<String>, Map<ArtifactSweep.Owner, Boolean>> NOBODY =
      namespaces -> Map.of();

  @TempDir private Path root;
  private final MovedClock clock = new MovedClock();
  private final Set<Path> needed = new HashSet<>();
  private final ArtifactSweep sweep = new ArtifactSweep(GRACE, needed::contains, clock);

  @BeforeEach
  void publish() throws IOException {
    artifact("ml", "uid-1");
  }

  @Test
  void anArtifactGoesWhenItsObjectHasBeenGoneForTheGrace() throws IOException {
    assertThat(sweep.sweep(root, STORE, seen(true))).isEmpty();
    clock.by(GRACE.minusSeconds(1));
    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    clock.by(Duration.ofSeconds(2));

    assertThat(sweep.sweep(root, STORE, NOBODY)).containsExactly(root.resolve("ml/a-uid-1"));
    assertThat(root.resolve("ml")).isEmptyDirectory();
  }

  /** A migration whose object was force-deleted: its source may still be frozen. */
  @Test
  void anArtifactThatAFrozenWorkloadNeedsStays() throws IOException {
    sweep.sweep(root, STORE, seen(true));
    clock.by(GRACE.multipliedBy(2));
    needed.add(root.resolve("ml/a-uid-1"));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
    needed.clear();
    assertThat(sweep.sweep(root, STORE, NOBODY)).containsExactly(root.resolve("ml/a-uid-1"));
  }

  @Test
  void theGraceCountsFromTheLastTimeThatTheObjectWasSeen() throws IOException {
    sweep.sweep(root, STORE, seen(true));
    clock.by(GRACE.multipliedBy(3));
    sweep.sweep(root, STORE, seen(true));
    clock.by(GRACE.dividedBy(2));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
  }

  @Test
  void aRetainedArtifactIsNeverDeleted() throws IOException {
    sweep.sweep(root, STORE, seen(true));
    sweep.sweep(root, STORE, seen(false));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
  }

  /** Another node that shares the store read the object before its policy was changed. */
  @Test
  void anArtifactThatWasRetainedAtTheDeletionStaysAlsoIfAMarkIsWrittenAfterwards()
      throws IOException {
    sweep.sweep(root, STORE, seen(true));
    new SweepMark(root.resolve("ml/a-uid-1")).retain();
    new SweepMark(root.resolve("ml/a-uid-1")).retain();
    sweep.sweep(root, STORE, seen(true));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
  }

  /** From then on the importing object decides. */
  @Test
  void aRetainedArtifactThatIsImportedGoesWithTheObjectThatImportedIt() throws IOException {
    new SweepMark(root.resolve("ml/a-uid-1")).retain();
    new SweepMark(root.resolve("ml/a-uid-1")).remove();
    sweep.sweep(root, STORE, imported("a-uid-1", true));
    clock.by(GRACE.plusSeconds(1));

    assertThat(sweep.sweep(root, STORE, NOBODY)).containsExactly(root.resolve("ml/a-uid-1"));
  }

  @Test
  void anArtifactWhoseObjectWasNeverSeenStays() throws IOException {
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
  }

  @Test
  void theMarkOfAnotherClusterThatWasCopiedAlongSaysNothingHere() throws IOException {
    sweep.sweep(root, "uid-of-their-store", seen(true));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
  }

  @Test
  void anEmptyMarkSaysNothing() throws IOException {
    Files.createFile(root.resolve("ml/.goes-with-its-object-a-uid-1"));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
  }

  @Test
  void anImportedArtifactGoesWithTheObjectThatImportedIt() throws IOException {
    sweep.sweep(root, STORE, imported("a-uid-1", true));
    assertThat(sweep.sweep(root, STORE, imported("a-uid-1", true))).isEmpty();
    clock.by(GRACE.plusSeconds(1));

    assertThat(sweep.sweep(root, STORE, NOBODY)).containsExactly(root.resolve("ml/a-uid-1"));
  }

  @Test
  void theCopyOfAnImportedArtifactStays() throws IOException {
    sweep.sweep(root, STORE, imported("another-folder", true));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
    assertThat(root.resolve("ml/a-uid-1")).isDirectory();
  }

  @Test
  void anImportThatRetainsTakesTheMarkAway() throws IOException {
    sweep.sweep(root, STORE, seen(true));
    sweep.sweep(root, STORE, imported("a-uid-1", false));
    clock.by(GRACE.multipliedBy(100));

    assertThat(sweep.sweep(root, STORE, NOBODY)).isEmpty();
  }

  @Test
  void otherFilesInAStoreAreNotDeleted() throws IOException {
    Path other = Files.createDirectories(root.resolve("ml/somebody-elses"));
    Files.writeString(other.resolve("manifest.json"), "{}");
    sweep.sweep(root, STORE, seen(true));
    clock.by(GRACE.multipliedBy(2));
    sweep.sweep(root, STORE, NOBODY);

    assertThat(other).isDirectory();
  }

  @Test
  void aMarkWhoseArtifactWasDeletedGoesToo() throws IOException {
    sweep.sweep(root, STORE, seen(true));
    Path mark = root.resolve("ml/.goes-with-its-object-a-uid-1");
    assertThat(mark).exists();
    sweep.sweep(root, STORE, NOBODY);
    assertThat(mark).exists();
    new ArtifactStore(root.resolve("ml"), clock).delete("a-uid-1");
    sweep.sweep(root, STORE, NOBODY);
    assertThat(mark).doesNotExist();
  }

  @Test
  void onlyTheNamespacesOfArtifactsAreAskedAbout() throws IOException {
    artifact("vision", "uid-2");
    Set<String> asked = new HashSet<>();
    sweep.sweep(
        root,
        STORE,
        namespaces -> {
          asked.addAll(namespaces);
          return Map.of();
        });
    assertThat(asked).containsExactlyInAnyOrder("ml", "vision");
  }

  @Test
  void anEmptyStoreAsksNobody(@TempDir Path empty) throws IOException {
    assertThat(
            sweep.sweep(
                empty,
                STORE,
                namespaces -> {
                  throw new AssertionError("asked about " + namespaces);
                }))
        .isEmpty();
  }

  private static Function<Set<String>, Map<ArtifactSweep.Owner, Boolean>> seen(boolean goesWithIt) {
    return namespaces -> Map.of(new ArtifactSweep.Owner("ml", "uid-1"), goesWithIt);
  }

  private static Function<Set<String>, Map<ArtifactSweep.Owner, Boolean>> imported(
      String folder, boolean goesWithIt) {
    return namespaces -> Map.of(new ArtifactSweep.Owner("ml", "uid-1", folder), goesWithIt);
  }

  private void artifact(String namespace, String uid) throws IOException {
    Path folder = Files.createDirectories(root.resolve(namespace));
    try (ArtifactStage stage = new ArtifactStore(folder, clock).stage("a-" + uid)) {
      stage.seal(SweptArtifacts.manifest(namespace, uid), 1, (done, total) -> {});
    }
  }

  private static final class MovedClock extends Clock {
    private Instant now = Instant.parse("2026-11-21T10:00:00Z");

    void by(Duration duration) {
      now = now.plus(duration);
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
