package dev.stasis.agent.layer;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** Whatever an archive holds: entries with confined paths come out of it, or it is refused. */
class PaxReaderFuzzTest {

  @FuzzTest
  void anyArchiveIsReadOrRefused(byte[] archive) {
    byte[] summed = withRightSums(archive);
    try (PaxReader reader = new PaxReader(new ByteArrayInputStream(summed), 2)) {
      for (Optional<LayerEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        requireConfined(next.get());
      }
    } catch (IOException refused) {
      return;
    }
  }

  private static void requireConfined(LayerEntry entry) {
    for (String part : entry.path().split("/", -1)) {
      if (part.equals("..") || part.isEmpty() || entry.path().length() > 4095) {
        throw new AssertionError("path: " + entry.path());
      }
    }
    long end = 0;
    for (LayerEntry.Extent extent : entry.extents()) {
      if (extent.offset() < end || extent.length() < 1 || extent.length() > entry.size()) {
        throw new AssertionError("extent: " + extent);
      }
      end = extent.offset() + extent.length();
    }
    if (end > entry.size()) {
      throw new AssertionError("extents end at %d of %d".formatted(end, entry.size()));
    }
  }

  /** A wrong sum hides all that lies behind it. */
  private static byte[] withRightSums(byte[] archive) {
    byte[] summed = archive.clone();
    for (int at = 0; at + PaxWriter.BLOCK <= summed.length; at += PaxWriter.BLOCK) {
      if (new String(summed, at + 257, 5, StandardCharsets.US_ASCII).equals("ustar")) {
        Arrays.fill(summed, at + 148, at + 156, (byte) ' ');
        int sum = 0;
        for (int i = at; i < at + PaxWriter.BLOCK; i++) {
          sum += summed[i] & 0xff;
        }
        byte[] digits = "%06o\0 ".formatted(sum).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(digits, 0, summed, at + 148, 8);
      }
    }
    return summed;
  }
}
