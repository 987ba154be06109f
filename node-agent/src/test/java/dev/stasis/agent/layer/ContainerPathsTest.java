package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the agent asks about a container's files is answered by the container's files. */
class ContainerPathsTest {
  @TempDir Path temp = Path.of("/");
  private Path root = temp;
  private ContainerPaths container = new ContainerPaths(temp);

  @BeforeEach
  void makeAContainerAndSomethingOutside() throws Exception {
    root = Files.createDirectories(temp.resolve("root"));
    container = new ContainerPaths(root);
    Files.createDirectories(temp.resolve("secret/folder"));
    Files.writeString(temp.resolve("secret/file"), "of the host");
  }

  @Test
  void aFileIsDescribedByItsPathInTheContainer() throws Exception {
    Path file = Files.writeString(Files.createDirectory(root.resolve("d")).resolve("f"), "four");

    assertThat(container.file("/d/f"))
        .isEqualTo(new ContainerPaths.File(4, Files.getLastModifiedTime(file).toInstant()));
    assertThat(container.isFolder("/d")).isTrue();
    assertThat(container.isFolder("/d/f")).isFalse();
  }

  @Test
  void anAbsoluteLinkLeadsToNoFileOfTheHost() throws Exception {
    Files.createSymbolicLink(root.resolve("d"), temp.resolve("secret"));

    assertThatThrownBy(() -> container.file("/d/file")).hasMessageContaining("No such file");
    assertThat(container.isFolder("/d/folder")).isFalse();
  }

  @Test
  void aRelativeLinkLeadsToNoFileOfTheHost() throws Exception {
    Files.createSymbolicLink(root.resolve("d"), Path.of("../../../../../.." + temp + "/secret"));

    assertThatThrownBy(() -> container.file("/d/file")).hasMessageContaining("No such file");
    assertThatThrownBy(() -> container.file("/../secret/file"))
        .hasMessageContaining("No such file");
  }
}
