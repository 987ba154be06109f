package dev.stasis.agent.tmpfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.Sh;
import dev.stasis.agent.testing.SmallTmpfs;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory stage gets huge pages, and nothing else of its file system changes. */
class StageHugePagesTest {
  private final StageHugePages pages = new StageHugePages(new ProcFs());

  @TempDir Path temp = Path.of("/");

  private static String options(Path folder) {
    return new Sh().must("findmnt", "-no", "OPTIONS", "--target", folder.toString()).strip();
  }

  @Test
  void aTmpfsGivesHugePagesToThoseThatAskAndKeepsItsOtherOptions() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(16)) {
      Path stage = Files.createDirectory(tmpfs.file("stage"));
      new Sh().must("mount", "-o", "remount,nosuid,noexec", tmpfs.file("").toString());
      String before = options(stage);

      assertThat(pages.allow(stage)).isEqualTo("advise");

      assertThat(options(stage)).contains("huge=advise").contains("nosuid,noexec");
      assertThat(options(stage).replace(",huge=advise", "")).isEqualTo(before);
    }
  }

  @Test
  void anOptionOfTheAdministratorIsKept() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(16)) {
      new Sh().must("mount", "-o", "remount,huge=within_size", tmpfs.file("").toString());

      assertThat(pages.allow(tmpfs.file(""))).isEqualTo("within_size");
    }
  }

  @Test
  void theFolderOfTheHostIsFoundWhereItIsMountedAlone() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(16)) {
      Path stage = Files.createDirectory(tmpfs.file("stage"));
      Path mounted = Files.createDirectory(temp.resolve("mounted"));
      new Sh().must("mount", "--bind", stage.toString(), mounted.toString());
      try {
        assertThat(pages.allow(mounted)).isEqualTo("advise");
        assertThat(options(stage)).contains("huge=advise");
      } finally {
        new Sh().must("umount", mounted.toString());
      }
    }
  }

  @Test
  void anotherFileSystemIsNamed() {
    assertThatThrownBy(() -> pages.allow(Path.of("/proc")))
        .hasMessage("/proc: expected a tmpfs, got proc");
  }
}
