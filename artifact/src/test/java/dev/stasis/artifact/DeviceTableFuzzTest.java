package dev.stasis.artifact;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Whatever a table of device memory holds: its chunks cover its regions, or it is refused. */
class DeviceTableFuzzTest {

  @FuzzTest
  void anyTableIsReadOrRefused(byte[] bytes) {
    ChunkTable table;
    try {
      table = DeviceTable.parse(new String(bytes, StandardCharsets.US_ASCII));
    } catch (IOException refused) {
      return;
    }
    if (table.dataSize() < 0 || table.storedBytes() < 0) {
      throw new AssertionError("sizes: " + table.dataSize() + ", " + table.storedBytes());
    }
  }
}
