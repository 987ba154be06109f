package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file of several pieces, which several threads copy out of an archive. */
class LargeFileTest {

  private static final int HOLE = 3 << 20;
  private static final int SIZE = HOLE + (50 << 20) + 12_345;

  @TempDir private Path temp;
  private Path archive;
  private Path source;

  @BeforeEach
  void packALargeFileAndASmallOneBehindIt() throws IOException {
    archive = temp.resolve("archive");
    source = temp.resolve("source");
    byte[] random = new byte[SIZE - HOLE];
    new Random(7).nextBytes(random);
    try (FileChannel data =
        FileChannel.open(source, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      data.write(ByteBuffer.wrap(random), HOLE);
    }
    Extents behindTheHole =
        sink -> {
          sink.take(HOLE, SIZE - HOLE);
          return 1;
        };
    try (FileChannel data = FileChannel.open(source);
        PaxWriter writer = new PaxWriter(archive)) {
      writer.write(entry("large", SIZE), behindTheHole, data);
      writer.write(entry("small", 0), sink -> 1, data);
      writer.finish();
    }
  }

  @Test
  void hasEachByteAtItsPlaceAndWhatFollowsIsReadToo() throws IOException {
    Path target = temp.resolve("target");
    try (PaxReader reader = new PaxReader(archive, 3);
        FileChannel file =
            FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      LayerEntry large = reader.next().orElseThrow();
      assertThat(large.extents()).containsExactly(new LayerEntry.Extent(HOLE, SIZE - HOLE));

      reader.copyTo(large, file);

      assertThat(reader.next()).map(LayerEntry::path).contains("small");
      assertThat(reader.next()).isEmpty();
    }
    assertThat(Files.mismatch(source, target)).isEqualTo(-1);
  }

  @Test
  void isRefusedIfTheArchiveEndsInIt() throws IOException {
    try (FileChannel file = FileChannel.open(archive, StandardOpenOption.WRITE)) {
      file.truncate(30 << 20);
    }
    try (PaxReader reader = new PaxReader(archive, 3);
        FileChannel file =
            FileChannel.open(
                temp.resolve("target"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      LayerEntry large = reader.next().orElseThrow();

      assertThatThrownBy(() -> reader.copyTo(large, file))
          .hasMessage(
              "layer archive: large: expected %d bytes, got the end".formatted(SIZE - HOLE));
    }
  }

  private static LayerEntry entry(String path, long size) {
    return new LayerEntry(
        path, LayerEntry.Kind.FILE, 0600, 0, 0, 1, 0, "", 0, 0, Map.of(), size, List.of());
  }
}
