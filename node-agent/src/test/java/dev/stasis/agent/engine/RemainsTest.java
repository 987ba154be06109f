package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What killed agents leave of finished operations is removed, and nothing else. */
class RemainsTest {

  private final EngineLab lab = new EngineLab(1, 64);

  @AfterEach
  void close() {
    lab.close();
  }

  private Path image(String container) throws Exception {
    Path folder = lab.parts().journal().folderOf(container).resolve(CriuImages.FOLDER);
    return Files.write(Files.createDirectories(folder).resolve("pages-1.img"), new byte[1]);
  }

  /** The record is removed first, and images in memory of the node may be large. */
  @Test
  void theImagesOfAnAgentThatWasKilledWhileItRemovedThemAreRemoved() throws Exception {
    Path left = image("left");
    Path recorded = image("recorded");
    Files.writeString(recorded.resolveSibling("../work.json").normalize(), "{");
    Path busy = image("busy");

    try (HostLocks.Held held = lab.parts().locks().tryTake("busy").orElseThrow()) {
      lab.engine().thaw().removeRemains();
    }

    assertThat(left).doesNotExist();
    assertThat(lab.state().resolve("work/left")).doesNotExist();
    assertThat(recorded).exists();
    assertThat(busy).exists();
  }
}
