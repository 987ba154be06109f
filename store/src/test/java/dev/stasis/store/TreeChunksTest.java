package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TreeChunksTest {
  private static final long CHUNK = ChunkFormat.CHUNK_BYTES;

  private static TreeChunks chunks(long... sizes) {
    return new TreeChunks(
        new FileTree(
            List.of(),
            IntStream.range(0, sizes.length)
                .mapToObj(i -> new FileTree.Entry("file-" + i, sizes[i]))
                .toList()));
  }

  @Test
  void filesOfOneSizeAreWrittenSideBySide() {
    TreeChunks chunks = chunks(8 * CHUNK, 8 * CHUNK, 8 * CHUNK);

    int[] order = chunks.spreadOverFiles();

    for (int at = 0; at < order.length; at += 3) {
      assertThat(IntStream.of(order).skip(at).limit(3).map(chunks::file))
          .containsExactlyInAnyOrder(0, 1, 2);
    }
  }

  @Test
  void aSmallFileIsSpreadOverALargeOne() {
    TreeChunks chunks = chunks(8 * CHUNK, 2 * CHUNK - 1);

    assertThat(chunks.spreadOverFiles()).containsExactly(0, 1, 8, 2, 3, 4, 5, 9, 6, 7);
  }

  @Test
  void eachChunkIsThereOnceAndInTheOrderOfItsFile() {
    TreeChunks chunks =
        chunks(0, 1, CHUNK, 1000 * CHUNK + 1, (ChunkFormat.MOST_CHUNKS - 1010) * CHUNK, 7 * CHUNK);

    int[] order = chunks.spreadOverFiles();

    int[] last = new int[6];
    Arrays.fill(last, -1);
    for (int chunk : order) {
      int file = chunks.file(chunk);
      assertThat(chunks.numberInFile(chunk)).isEqualTo(last[file] + 1);
      last[file]++;
    }
    assertThat(order).hasSize(ChunkFormat.MOST_CHUNKS);
  }
}
