package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Folders such as artifacts are, and whether two of them are equal. */
final class SampleFolders {
  static final int CHUNK = ChunkFormat.CHUNK_BYTES;

  private SampleFolders() {}

  /** About 9 MB: random, compressible, zero and empty files, and an empty folder. */
  static Path artifact(Path folder, long seed) throws IOException {
    Random random = new Random(seed);
    Files.createDirectories(folder.resolve("criu/nested"));
    Files.createDirectory(folder.resolve("layer"));
    Files.createDirectory(folder.resolve("regions"));
    Files.writeString(folder.resolve("manifest.json"), "{\"formatVersion\": 3}\n");
    Files.write(folder.resolve("criu/pages-1.img"), random(random, 2 * CHUNK + 4096));
    Files.write(folder.resolve("criu/nested/core.img"), random(random, 1000));
    Files.createFile(folder.resolve("criu/empty.img"));
    Files.write(folder.resolve("criu/text.img"), text(CHUNK + 77));
    try (RandomAccessFile sparse =
        new RandomAccessFile(folder.resolve("regions/1.data").toFile(), "rw")) {
      sparse.setLength(8L * CHUNK);
      sparse.seek(5L * CHUNK + 123_456);
      sparse.write(random(random, 100_000));
    }
    keepToRoot(folder);
    return folder;
  }

  /** About 200 KB, for tests that store it often. */
  static Path small(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("criu"));
    Files.write(folder.resolve("criu/pages-1.img"), random(new Random(2), 100_000));
    Files.write(folder.resolve("criu/text.img"), text(100_000));
    Files.createFile(folder.resolve("criu/empty.img"));
    Files.write(folder.resolve("zeros"), new byte[5000]);
    keepToRoot(folder);
    return folder;
  }

  static byte[] random(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  static byte[] text(int length) {
    byte[] line =
        "a line of a log that compresses well 0123456789\n".getBytes(StandardCharsets.UTF_8);
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = line[i % line.length];
    }
    return bytes;
  }

  static void keepToRoot(Path folder) throws IOException {
    for (Path path : everything(folder)) {
      Files.setPosixFilePermissions(
          path,
          PosixFilePermissions.fromString(Files.isDirectory(path) ? "rwx------" : "rw-------"));
    }
  }

  static List<Path> everything(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      return paths.sorted().toList();
    }
  }

  /** Names, kinds, modes and bytes are the same. */
  static void assertEqual(Path actual, Path expected) throws IOException {
    assertThat(everything(actual).stream().map(actual::relativize))
        .containsExactlyElementsOf(
            everything(expected).stream().map(expected::relativize).toList());
    for (Path path : everything(expected)) {
      Path other = actual.resolve(expected.relativize(path));
      assertThat(Files.isDirectory(other)).isEqualTo(Files.isDirectory(path));
      if (!path.equals(expected)) {
        assertThat(Files.getPosixFilePermissions(other))
            .as("mode of %s", other)
            .isEqualTo(Files.getPosixFilePermissions(path));
      }
      if (Files.isRegularFile(path)) {
        assertThat(Files.mismatch(other, path)).as("bytes of %s", other).isEqualTo(-1);
      }
    }
  }

  static boolean equal(Path actual, Path expected) throws IOException {
    List<Path> paths = everything(expected);
    if (everything(actual).size() != paths.size()) {
      return false;
    }
    for (Path path : paths) {
      Path other = actual.resolve(expected.relativize(path));
      if (Files.isRegularFile(path) && Files.mismatch(other, path) != -1) {
        return false;
      }
    }
    return true;
  }

  static byte[] key(int fill) {
    byte[] key = new byte[StoreKeys.KEY_BYTES];
    Arrays.fill(key, (byte) fill);
    return key;
  }
}
