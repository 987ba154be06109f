package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.testing.SmallTmpfs;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArtifactPlaceTest {

  private static final String UID = "6f1c2f5e-0a51-4a38-9a8b-0d6a9f3f7c11";

  /** How an artifact may be damaged: what lies in its folder. */
  private static final Map<String, Map<String, String>> DAMAGES =
      Map.of(
          "empty folder", Map.of(),
          "manifest missing", Map.of("manifest.json.sha256", "ab".repeat(32)),
          "digest missing", Map.of("manifest.json", "{\"formatVersion\":1}"),
          "manifest truncated",
              Map.of("manifest.json", "{\"format", "manifest.json.sha256", "ab".repeat(32)),
          "manifest of a newer format",
              Map.of("manifest.json", "{\"formatVersion\":99}", "manifest.json.sha256", "ab"));

  @TempDir Path store;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "empty folder",
        "manifest missing",
        "digest missing",
        "manifest truncated",
        "manifest of a newer format"
      })
  void aDamagedArtifactIsDeletedWhenItsFolderBearsTheUidOfItsObject(String damage)
      throws Exception {
    damaged("train-" + UID, damage);

    place("train-" + UID, UID).requireDeletable();
  }

  @ParameterizedTest
  @ValueSource(strings = {"empty folder", "manifest truncated"})
  void aDamagedArtifactInAFolderOfAnotherObjectIsRefusedByName(String damage) throws Exception {
    Path folder = damaged("train-another", damage);

    assertThatThrownBy(() -> place("train-another", UID).requireDeletable())
        .isInstanceOf(Refused.class)
        .hasMessageContaining("ml/train-another")
        .hasMessageContaining(UID);
    assertThat(folder).exists();
  }

  @Test
  void anObjectWithoutAUidOwnsNoFolder() throws Exception {
    damaged("train-", "empty folder");

    assertThatThrownBy(() -> place("train-", "").requireDeletable()).isInstanceOf(Refused.class);
  }

  @Test
  void nothingIsWrittenToMemoryThatCountsTowardsTheAgentsLimit() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(8)) {
      ArtifactPlace place =
          new ArtifactPlace(
              place("train-" + UID, UID).reference(), tmpfs.file("ml"), "train", true, null);

      assertThatThrownBy(() -> place.createFolder(new StoreInMemory(OptionalLong.of(16L << 20))))
          .isInstanceOf(Refused.class)
          .hasMessageContaining("store local: expected a folder on a disk")
          .hasMessageContaining("memory limit of 16.0Mi");
      place.createFolder();
      assertThat(tmpfs.file("ml")).isDirectory();
    }
  }

  private Path damaged(String name, String damage) throws IOException {
    Path folder = Files.createDirectories(store.resolve("ml").resolve(name));
    for (Map.Entry<String, String> file : DAMAGES.getOrDefault(damage, Map.of()).entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
    return folder;
  }

  private ArtifactPlace place(String name, String uid) {
    ArtifactReference reference = new ArtifactReference("local", "ml/" + name, "ml", uid, null);
    return new ArtifactPlace(reference, store.resolve("ml"), name, true, null);
  }
}
