package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountPointFoldersTest {

  @TempDir Path folder;

  @Test
  void makesWhatIsMissingAndLeavesWhatIsThere() throws Exception {
    Path root = Files.createDirectories(folder.resolve("root"));
    Files.createDirectories(root.resolve("run/kept"));

    new MountPointFolders().makeFolders(root, List.of("/run/nvidia-ctk-hook/1234", "/run/kept"));

    assertThat(root.resolve("run/nvidia-ctk-hook/1234")).isDirectory();
    assertThat(root.resolve("run/kept")).isDirectory();
  }

  @Test
  void aFileIsMadeWhereTheMountIsAFile() throws Exception {
    Path root = Files.createDirectories(folder.resolve("root"));
    Files.createDirectories(root.resolve("dev"));

    new MountPointFolders().makeFiles(root, List.of("/dev/nvidia0"));

    assertThat(root.resolve("dev/nvidia0")).isEmptyFile();
  }

  @Test
  void aLinkInTheImageLeadsNowhere() throws Exception {
    Path root = Files.createDirectories(folder.resolve("root"));
    Path outside = Files.createDirectories(folder.resolve("outside"));
    Files.createSymbolicLink(root.resolve("run"), outside);

    assertThatThrownBy(() -> new MountPointFolders().makeFolders(root, List.of("/run/hook")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/run/hook");
    assertThat(outside).isEmptyDirectory();
  }
}
