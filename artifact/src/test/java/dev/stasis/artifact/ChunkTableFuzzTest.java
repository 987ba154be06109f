package dev.stasis.artifact;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Whatever a table of chunks holds: its chunks cover its regions exactly, or it is refused. */
class ChunkTableFuzzTest {

  @FuzzTest
  void anyTableIsReadOrRefused(byte[] bytes) throws IOException {
    ChunkTable table;
    try {
      table = ChunkTable.parse(new String(bytes, StandardCharsets.US_ASCII));
    } catch (IOException refused) {
      return;
    }
    if (table.dataSize() < 0 || table.storedBytes() < 0) {
      throw new AssertionError("sizes: " + table.dataSize() + ", " + table.storedBytes());
    }
    if (!ChunkTable.parse(table.text()).equals(table)) {
      throw new AssertionError("text: " + table.text());
    }
  }
}
