package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A large file is digested by several threads, and its digest is of every byte. */
class FileDigestsTest {
  private static final int PIECE = 8 << 20;
  private static final int SIZE = 2 * PIECE + 4711;
  private static final String NAME = "criu/pages-2.img";

  @TempDir Path temp = Path.of("/");
  private final byte[] bytes = new byte[SIZE];
  private Path artifact = temp;

  @BeforeEach
  void fill() {
    new Random(3).nextBytes(bytes);
  }

  private Manifest sealed(Progress progress) throws IOException {
    Path folder = Files.createDirectory(temp.resolve("store"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    artifact = store.path("a");
    try (ArtifactStage stage = store.stage("a")) {
      Files.write(stage.folder().resolve(NAME), bytes);
      return stage.seal(new Samples().draft(), 2, progress).manifest();
    }
  }

  private Opened open(Progress progress) throws IOException {
    return new ArtifactReader(2, progress).open(artifact, null);
  }

  /** Each thread waits at its first bytes until there are two. */
  private record Meeting(Set<Thread> there, CountDownLatch both) implements Progress {
    Meeting() {
      this(ConcurrentHashMap.newKeySet(), new CountDownLatch(2));
    }

    @Override
    public void at(long done, long total) {
      if (there.add(Thread.currentThread())) {
        both.countDown();
        try {
          assertThat(both.await(30, TimeUnit.SECONDS)).as("a second thread").isTrue();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Test
  void oneLargeFileKeepsTwoThreadsBusyInTheSealAndInTheVerification() throws Exception {
    sealed(new Meeting());

    assertThat(open(new Meeting())).isInstanceOf(Opened.Verified.class);
  }

  @Test
  void itsDigestIsThatOfTheDigestsOfItsPieces() throws Exception {
    ByteArrayOutputStream sums = new ByteArrayOutputStream();
    for (int at = 0; at < SIZE; at += PIECE) {
      String piece = Hasher.sha256(Arrays.copyOfRange(bytes, at, Math.min(SIZE, at + PIECE)));
      sums.writeBytes(HexFormat.of().parseHex(piece));
    }

    assertThat(sealed(Progress.NONE).files().get(NAME))
        .isEqualTo(new FileFacts(SIZE, "8m" + Hasher.sha256(sums.toByteArray())));
  }

  @Test
  void aFileOfOnePieceHasItsOwnSha256() throws Exception {
    Path file = Files.write(temp.resolve("file"), new byte[PIECE]);

    assertThat(
            new FileDigests(new Workers(1), new Hasher(Progress.NONE, PIECE))
                .of(List.of(FileDigests.Subject.sealed(file))))
        .containsExactly(new FileFacts(PIECE, Hasher.sha256(new byte[PIECE])));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PIECE - 1, PIECE, 2 * PIECE, SIZE - 1})
  void aFlippedBitInAnyPieceIsFound(int at) throws Exception {
    sealed(Progress.NONE);
    damage(at);

    assertThat(open(Progress.NONE))
        .isInstanceOfSatisfying(
            Opened.Refused.class,
            refused -> assertThat(refused.message()).startsWith("sha256 of " + NAME));
  }

  /** Those who wrote format 2 gave each file one SHA-256. */
  @Test
  void aLargeFileOfFormat2IsReadAndItsDamageFound() throws Exception {
    FileFacts pieces = Objects.requireNonNull(sealed(Progress.NONE).files().get(NAME));
    Path manifest = artifact.resolve(Manifest.FILE_NAME);
    Files.writeString(
        manifest,
        Files.readString(manifest)
            .replace("\"formatVersion\" : 3", "\"formatVersion\" : 2")
            .replace(pieces.sha256(), Hasher.sha256(bytes)));
    Files.writeString(
        artifact.resolve(Manifest.DIGEST_FILE_NAME),
        Hasher.sha256(Files.readAllBytes(manifest)) + "  manifest.json\n");

    assertThat(open(Progress.NONE))
        .isInstanceOfSatisfying(
            Opened.Verified.class,
            opened -> assertThat(opened.artifact().manifest().formatVersion()).isEqualTo(2));

    damage(SIZE - 1);
    assertThat(open(Progress.NONE)).isInstanceOf(Opened.Refused.class);
  }

  private void damage(int at) throws IOException {
    bytes[at] ^= 1;
    Files.write(artifact.resolve(NAME), bytes);
  }
}
