package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.Progress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MountedConformanceTest extends StoreConformance {

  private final AtomicInteger checksUntilGone = new AtomicInteger(Integer.MAX_VALUE);

  @Override
  protected BlobStore emptyStore() throws Exception {
    return mounted(Files.createDirectory(temp.resolve("volume")));
  }

  private MountedBlobs mounted(Path folder) {
    return new MountedBlobs(
        new FolderBlobs(folder),
        () -> {
          if (checksUntilGone.getAndDecrement() <= 0) {
            throw new StoreException.Unreachable("the volume is not mounted any more", null);
          }
        });
  }

  @Test
  void withoutTheMountTheStoreIsUnreachableAndNothingIsWritten() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("below"));
    MountedBlobs blobs = mounted(folder);
    checksUntilGone.set(0);

    assertThatThrownBy(() -> blobs.list("")).isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.stat("a")).isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.get("a", 0, 1)).isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.delete("a")).isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.put("a", new byte[1]))
        .isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.putIfAbsent("a", new byte[1]))
        .isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> blobs.upload("a")).isInstanceOf(StoreException.Unreachable.class);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aCallDuringWhichTheMountGoesDoesNotCount() throws Exception {
    MountedBlobs blobs = mounted(Files.createDirectory(temp.resolve("going")));

    checksUntilGone.set(1);
    assertThatThrownBy(() -> blobs.stat("none")).isInstanceOf(StoreException.Unreachable.class);
    checksUntilGone.set(1);
    assertThatThrownBy(() -> blobs.put("a", new byte[1]))
        .isInstanceOf(StoreException.Unreachable.class);
  }

  @Test
  void anUploadDuringWhichTheMountGoesIsNotStored() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("uploading"));
    MountedBlobs blobs = mounted(folder);
    BlobUpload upload = blobs.upload("a");
    upload.part(0, ByteBuffer.allocate(1));
    checksUntilGone.set(0);

    assertThatThrownBy(() -> upload.commit(1, 1)).isInstanceOf(StoreException.Unreachable.class);
    upload.abort();
    assertThat(folder.resolve("a")).doesNotExist();
    assertThat(folder.resolve(FolderBlobs.UNFINISHED)).isEmptyDirectory();
  }

  @Test
  void anArtifactIsNeverStoredWhenTheMountGoesAtAnyCall() throws Exception {
    Path artifact = temp.resolve("artifact");
    for (int checks = 0; ; checks++) {
      Path folder = Files.createDirectory(temp.resolve("at-" + checks));
      checksUntilGone.set(checks);
      try (RemoteArtifacts artifacts =
          new RemoteArtifacts(
              mounted(folder), KEYS, Compression.LZ4, Clock.systemUTC(), 1, Duration.ZERO)) {
        var unused = artifacts.store(FIRST, artifact, Progress.NONE);
        assertThat(checks).as("checks of a whole upload").isGreaterThan(10);
        return;
      } catch (StoreException.Unreachable e) {
        assertThat(checksUntilGone.get()).isNegative();
      }
    }
  }
}
