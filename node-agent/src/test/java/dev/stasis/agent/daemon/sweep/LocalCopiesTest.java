package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which copies of stored artifacts a node keeps. */
class LocalCopiesTest {

  private static final int MIB = 1 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path root;

  private final GpuCheckpointStore store = new GpuCheckpointStore();
  private final List<GpuCheckpoint> objects = new ArrayList<>();
  private final List<Path> needed = new ArrayList<>();
  private long total = 1000L * MIB;
  private long free = 500L * MIB;

  @BeforeEach
  void make() {
    store.getMetadata().setName("chunks");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/chunks", Layout.CHUNKS)));
  }

  /** An artifact of one MiB that was last used so many hours ago. */
  private GpuCheckpoint copy(String name, int hours) throws IOException {
    Path artifact = SweptArtifacts.write(root, "ml", name, new byte[MIB]);
    Files.setLastModifiedTime(
        artifact, FileTime.from(Instant.now().minus(Duration.ofHours(hours))));
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace("ml");
    checkpoint.getMetadata().setName(name);
    checkpoint.getMetadata().setUid(name);
    ArtifactStatus status = new ArtifactStatus();
    status.setStore("chunks");
    status.setDurability(StoreDurability.REMOTE);
    checkpoint.setStatus(new GpuCheckpointStatus());
    checkpoint.getStatus().setArtifact(status);
    objects.add(checkpoint);
    return checkpoint;
  }

  private static ArtifactStatus artifact(GpuCheckpoint checkpoint) {
    return Objects.requireNonNull(checkpoint.getStatus().getArtifact());
  }

  private List<String> pruned() throws IOException {
    return new LocalCopies(needed::contains, Clock.systemUTC())
        .prune(store, root, new LocalCopies.Disk(total, free), namespaces -> objects).stream()
            .map(path -> path.getFileName().toString())
            .toList();
  }

  @Test
  void theLeastRecentlyUsedCopiesGoUntilTheOthersFit() throws IOException {
    copy("new", 1);
    copy("old", 30);
    copy("oldest", 40);
    store.getSpec().getOptions().setLocalCopies(new Quantity("2500Ki"));

    assertThat(pruned()).containsExactly("oldest");
    assertThat(root.resolve("ml/oldest")).doesNotExist();
    assertThat(root.resolve("ml/old")).exists();
    assertThat(pruned()).isEmpty();
  }

  @Test
  void withoutASpaceOfItsOwnATenthOfTheDiskIsForCopies() throws IOException {
    copy("a", 2);
    copy("b", 1);
    total = 25L * MIB;
    free = 20L * MIB;
    assertThat(pruned()).isEmpty();

    total = 15L * MIB;
    free = 10L * MIB;
    assertThat(pruned()).containsExactly("a");
  }

  @Test
  void copiesMakeRoomForCheckpoints() throws IOException {
    copy("a", 2);
    copy("b", 1);
    free = 199L * MIB;

    assertThat(pruned()).as("a fifth is kept free").containsExactly("a");
  }

  @Test
  void theOnlyCopyAndCopiesInUseAreKept() throws IOException {
    store.getSpec().getOptions().setLocalCopies(new Quantity("0"));
    artifact(copy("uploading", 10)).setNode("this");
    copy("restored", 9)
        .getStatus()
        .setInUseBy(List.of(new ObjectReference("GpuRestore", "ml", "back", "uid")));
    copy("damaged", 8)
        .getStatus()
        .setConditions(
            List.of(
                new Condition(
                    "Restorable", ConditionValue.FALSE, "ArtifactDamaged", "", Instant.EPOCH, 1L)));
    copy("downloaded", 0);
    copy("frozen", 7);
    needed.add(root.resolve("ml/frozen"));
    artifact(copy("elsewhere", 6)).setStore("another");
    copy("orphan", 5);
    objects.remove(objects.size() - 1);
    copy("stored", 4);

    assertThat(pruned()).containsExactly("stored");
  }
}
