package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.Sh;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Device memory is staged only where nobody but root can have made the folder. */
class MemoryStageTest {
  @TempDir Path temp = Path.of("/");

  private Path usual() {
    return temp.resolve("stage");
  }

  private Path trusted() throws Exception {
    return new MemoryStage(usual(), temp.resolve("state/stage")).trusted();
  }

  private static String mode(Path folder) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder));
  }

  @Test
  void aMissingFolderIsMadeForRootAlone() throws Exception {
    assertThat(trusted()).isEqualTo(usual());
    assertThat(mode(usual())).isEqualTo("rwx------");
  }

  @Test
  void theFolderThatTheKubeletMadeIsClosedToOthers() throws Exception {
    Files.createDirectory(usual());
    new Sh().must("chmod", "0755", usual().toString());

    assertThat(trusted()).isEqualTo(usual());
    assertThat(mode(usual())).isEqualTo("rwx------");
  }

  @Test
  void aFolderOfAnotherUserIsNotUsed() throws Exception {
    Files.createDirectory(usual());
    new Sh().must("chown", "1000", usual().toString());

    assertThat(trusted()).isEqualTo(temp.resolve("state/stage"));
    assertThat(mode(temp.resolve("state/stage"))).isEqualTo("rwx------");
  }

  @Test
  void aFolderThatOthersCanWriteToIsNotUsed() throws Exception {
    Files.createDirectory(usual());
    new Sh().must("chmod", "1777", usual().toString());

    assertThat(trusted()).isEqualTo(temp.resolve("state/stage"));
    assertThat(mode(usual())).isEqualTo("rwxrwxrwx");
  }

  @Test
  void aLinkIsNotUsedAndItsTargetKeepsItsMode() throws Exception {
    Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
    new Sh().must("chmod", "0755", elsewhere.toString());
    Files.createSymbolicLink(usual(), elsewhere);

    assertThat(trusted()).isEqualTo(temp.resolve("state/stage"));
    assertThat(mode(elsewhere)).isEqualTo("rwxr-xr-x");
  }
}
