package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReceivedArtifactTest {
  @TempDir Path temp = Path.of("/");
  private final Samples samples = new Samples();

  @SuppressWarnings("NullAway.Init")
  private ArtifactStore here;

  @SuppressWarnings("NullAway.Init")
  private ArtifactStage.SealedArtifact sent;

  @BeforeEach
  void anArtifactOfAnotherNode() throws IOException {
    ArtifactStore there = store("there");
    here = store("here");
    sent = samples.sealed(there, "a", temp);
  }

  @Test
  void aCompleteTransferIsAnArtifact() throws IOException {
    try (ArtifactStage stage = here.stage("a")) {
      copyInto(stage);

      ArtifactStage.SealedArtifact received = stage.sealReceived(sent.sha256());

      assertThat(received.sha256()).isEqualTo(sent.sha256());
      assertThat(received.path()).isEqualTo(here.path("a"));
      assertThat(new ArtifactReader(2, Progress.NONE).open(received.path(), sent.sha256()))
          .isInstanceOf(Opened.Verified.class);
    }
    assertThat(here.leftovers(Duration.ZERO, false)).isEmpty();
  }

  @Test
  void anIncompleteOrSurplusTransferIsNoArtifact() throws IOException {
    for (String change :
        List.of(
            "cut layer/root.tar",
            "delete criu/inventory.img",
            "add criu/more.img",
            "cut regions/1.data")) {
      try (ArtifactStage stage = here.stage("a")) {
        copyInto(stage);
        Path file = stage.folder().resolve(change.substring(change.indexOf(' ') + 1));
        switch (change.substring(0, change.indexOf(' '))) {
          case "delete" -> Files.delete(file);
          case "add" -> Files.writeString(file, "x");
          default -> {
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
          }
        }

        assertThatThrownBy(() -> stage.sealReceived(sent.sha256()))
            .as(change)
            .isInstanceOf(IOException.class);
      }
      assertThat(here.path("a")).as(change).doesNotExist();
    }
  }

  @Test
  void aDamagedArtifactIsRefusedWhenItIsOpened() throws IOException {
    try (ArtifactStage stage = here.stage("a")) {
      copyInto(stage);
      Path file = stage.folder().resolve("layer/root.tar");
      byte[] bytes = Files.readAllBytes(file);
      bytes[3] ^= 1;
      Files.write(file, bytes);
      stage.sealReceived(sent.sha256());
    }
    assertThat(new ArtifactReader(2, Progress.NONE).open(here.path("a"), sent.sha256()))
        .isInstanceOf(Opened.Refused.class);
  }

  @Test
  void anArtifactWithAnUnexpectedDigestIsNotPublished() throws IOException {
    try (ArtifactStage stage = here.stage("a")) {
      copyInto(stage);

      assertThatThrownBy(() -> stage.sealReceived("0".repeat(64)))
          .hasMessageContaining("expected 000");
    }
    assertThat(here.path("a")).doesNotExist();
  }

  private ArtifactStore store(String name) throws IOException {
    return new ArtifactStore(Files.createDirectory(temp.resolve(name)), Clock.systemUTC());
  }

  private void copyInto(ArtifactStage stage) throws IOException {
    for (Path file : FolderScan.of(sent.path()).files()) {
      Path to = stage.folder().resolve(sent.path().relativize(file).toString());
      Files.deleteIfExists(to);
      Files.copy(file, to);
    }
    FolderScan.of(stage.folder()).keepToRoot();
  }
}
