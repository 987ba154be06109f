package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A download to a disk that is almost full. */
class DownloadRoomTest {

  private static final int SIZE = 1000;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path temp;

  @Test
  void aDownloadWithoutRoomLeavesNothingOnTheNode() throws Exception {
    Path artifact = Files.createDirectory(temp.resolve("artifact"));
    byte[] bytes = new byte[SIZE];
    new Random(1).nextBytes(bytes);
    Files.write(artifact.resolve("memory"), bytes);
    Path folder = Files.createDirectories(temp.resolve("local/ml"));
    ArtifactPlace where =
        new ArtifactPlace(
            new ArtifactReference(
                "remote", "ml/train-uid", "ml", "uid", "0".repeat(64), "namespace-uid"),
            folder,
            "train-uid",
            true,
            new LabRemoteStore(temp.resolve("remote")).place());

    try (RemoteArtifacts remote = where.requireRemote().opener().open()) {
      ArtifactId id = where.remoteId();
      var unused = remote.store(id, artifact, Progress.NONE);

      assertThatThrownBy(() -> where.fetch(remote, id, Clock.systemUTC(), Progress.NONE, SIZE - 1))
          .isInstanceOf(StoreException.Full.class);
    }

    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aPartOfTheDiskStaysFree() throws Exception {
    ArtifactPlace where =
        new ArtifactPlace(
            new ArtifactReference("remote", "ml/a", "ml", "uid", null, "namespace-uid"),
            temp,
            "a",
            true,
            null);

    long total = Files.getFileStore(temp).getTotalSpace();
    assertThat(where.room()).isBetween(0L, total - total / 20);
  }
}
