package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayerSizeTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  @Test
  void theEstimateIsCloseToTheSizeOfTheArchive() throws IOException {
    Path root = Files.createDirectories(folder.resolve("root"));
    Path upper = Files.createDirectories(folder.resolve("upper/a/b"));
    Path cache = Files.createDirectories(root.resolve("cache/models"));
    Files.write(upper.resolve("file"), new byte[3_000_000]);
    for (int i = 0; i < 200; i++) {
      Files.write(cache.resolve("shard-" + i), new byte[40_000]);
    }
    Files.createLink(cache.resolve("again"), cache.resolve("shard-0"));
    Files.createSymbolicLink(cache.resolve("out"), Path.of("/usr"));
    try (RandomAccessFile sparse = new RandomAccessFile(cache.resolve("s").toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    Path out = Files.createDirectories(folder.resolve("out"));

    LayerSize.Estimate estimated =
        new LayerSize().of(folder.resolve("upper"), root, List.of("/cache"));

    LayerIndex index =
        new LayerPacker(List.of())
            .pack(folder.resolve("upper"), root, List.of("/cache"), out, Set.of(), bytes -> {});
    long packed = index.parts().stream().mapToLong(LayerIndex.Part::bytes).sum();
    assertThat(estimated.bytes()).isCloseTo(packed, Percentage.withPercentage(5));
    // All but the shard with two names.
    assertThat(estimated.aheadBytes()).isEqualTo(3_000_000 + 199 * 40_000);
    assertThat(new LayerSize().of(null, root, List.of())).isEqualTo(new LayerSize.Estimate(0, 0));
  }

  @Test
  void aMissingFolderIsNoFault() {
    assertThat(new LayerSize().of(folder.resolve("none"), folder, List.of("/none")).bytes())
        .isLessThan(10_000);
  }
}
