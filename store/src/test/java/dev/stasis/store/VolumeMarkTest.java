package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VolumeMarkTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path volume;

  @SuppressWarnings("NullAway.Init") // set before each test
  private VolumeMark mark;

  @BeforeEach
  void aVolumeIsMounted() {
    mark = markOf(volume);
  }

  private static VolumeMark markOf(Path folder) {
    return new VolumeMark(new FolderBlobs(folder), new SecureRandom());
  }

  @Test
  void theIdentityOfAVolumeIsTheSameForEveryNode() throws Exception {
    assertThat(mark.read()).isEmpty();

    String id = mark.readOrCreate();

    assertThat(id).matches("[0-9a-f]{32}");
    assertThat(markOf(volume).readOrCreate()).isEqualTo(id);
    assertThat(mark.read()).contains(id);
  }

  @Test
  void twoVolumesHaveTwoIdentities() throws Exception {
    Path other = Files.createDirectory(volume.resolve("other"));

    assertThat(markOf(other).readOrCreate()).isNotEqualTo(mark.readOrCreate());
  }

  @Test
  void aMarkThatIsNoIdentityIsRefusedAndNotReplaced() throws Exception {
    for (String text : new String[] {"", "../../etc", "Z".repeat(32), "a".repeat(64)}) {
      Files.writeString(volume.resolve(VolumeMark.KEY), text);

      assertThatThrownBy(mark::readOrCreate).isInstanceOf(StoreException.Damaged.class);
      assertThat(volume.resolve(VolumeMark.KEY)).hasContent(text);
    }
  }
}
