package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkTableTest {
  private static final String SHA = "ab".repeat(32);
  private static final ChunkTable TABLE =
      new ChunkTable(
          List.of(new Region(0x7f0000000000L, 8192), new Region(0xffff_8000_0000_0000L, 8192)),
          List.of(
              new Chunk(0, 0x7f0000000000L, 4096, 0, 0xdeadbeef, SHA),
              new Chunk(1, 0x7f0000001000L, 4096, 4096, null, null),
              new Chunk(2, 0xffff_8000_0000_0000L, 4096, 8192, 7, null),
              new Chunk(3, 0xffff_8000_0000_1000L, 4096, 12288, 8, "16x" + SHA)));

  @Test
  void linesHaveTheFormatOfTheRegionJournal() {
    assertThat(TABLE.text())
        .isEqualTo(
            "stasis-chunks 1\n"
                + "R 0 7f0000000000 8192\n"
                + "R 1 ffff800000000000 8192\n"
                + "C 0 7f0000000000 4096 0 deadbeef "
                + SHA
                + "\n"
                + "C 1 7f0000001000 4096 4096 zero\n"
                + "C 2 ffff800000000000 4096 8192 00000007\n"
                + "C 3 ffff800000001000 4096 12288 00000008 16x"
                + SHA
                + "\n"
                + "end 4\n");
  }

  @Test
  void aWrittenTableIsReadBackUnchanged() throws Exception {
    assertThat(ChunkTable.parse(TABLE.text())).isEqualTo(TABLE);
  }

  @Test
  void dataSizeIncludesZerosAndStoredBytesDoNot() {
    assertThat(TABLE.dataSize()).isEqualTo(16384);
    assertThat(TABLE.storedBytes()).isEqualTo(12288);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n",
        "stasis-chunks 2\nend 0\n",
        "stasis-chunks 1\n",
        "stasis-chunks 1\nend 0",
        "stasis-chunks 1\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nend 0\n",
        "stasis-chunks 1\nR 1 1000 4096\nend 0\n",
        "stasis-chunks 1\nR 0 1000 -1\nend 0\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 4096 0 zero\nC 1 2000 4096 4096 zero\nend 2\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 2000 4096 0 zero\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 8192 0 zero\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 4096 -1 zero\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 0 0 zero\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 4096 0 xyz\nend 1\n",
        "stasis-chunks 1\nR 0 1000 4096\nC 0 1000 4096 0 00 nosha\nend 1\n",
        "stasis-chunks 1\nR 0 1000 16777216\nC 0 1000 16777216 0 zero\nend 1\n",
      })
  void anyOtherTextIsRefusedInOneSentence(String text) {
    assertThatThrownBy(() -> ChunkTable.parse(text)).hasMessageContaining("chunk table");
  }
}
