package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Containers with readOnlyRootFilesystem: only their runtimes made something in the layer. */
class ReadOnlyRootTest {
  private static final VolumeGuard GUARD = new VolumeGuard(List.of(), TargetVolumes.none());

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path temp;

  private @Nullable OverlayRoots mounts;

  @BeforeEach
  void makeAnImage() throws Exception {
    mounts = new OverlayRoots(temp);
    Files.createDirectories(roots().image().resolve("etc"));
  }

  @AfterEach
  void unmount() throws Exception {
    roots().close();
  }

  private OverlayRoots roots() {
    return Objects.requireNonNull(mounts);
  }

  /** What a runtime mounts onto is made before the root becomes read-only. */
  private Path container(String name) throws Exception {
    Path root = roots().container(name);
    Files.createDirectories(root.resolve("data/volume"));
    Files.createFile(root.resolve("etc/hosts"));
    return root;
  }

  private LayerUnpacker.Unpacked carryOver(Path source) throws Exception {
    Path target = container("target");
    Path archives = Files.createDirectory(temp.resolve("archives"));
    new LayerPacker(List.of("/"))
        .pack(roots().upper("source"), source, List.of(), archives, Set.of(), bytes -> {});
    OverlayRoots.run("mount", "-o", "remount,ro", target.toString());
    return new LayerUnpacker(List.of("/"), GUARD, 2).unpack(archives, target);
  }

  @Test
  void filesOfTheRuntimeAreNotChanged() throws Exception {
    LayerUnpacker.Unpacked unpacked = carryOver(container("source"));

    assertThat(unpacked.entries()).isZero();
    assertThat(unpacked.leftAlone())
        .allSatisfy(one -> assertThat(one).endsWith("the root file system is read-only"))
        .anySatisfy(one -> assertThat(one).startsWith("data/volume"));
  }

  @Test
  void filesOfTheWorkloadAreNotLostSilently() throws Exception {
    Path source = container("source");
    Files.writeString(source.resolve("etc/written"), "something");

    assertThatThrownBy(() -> carryOver(source))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("etc/written")
        .hasMessageContaining("Read-only file system");
  }
}
