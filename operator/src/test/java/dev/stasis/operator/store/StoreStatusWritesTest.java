package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class StoreStatusWritesTest {

  private static final Instant NOON = Instant.parse("2026-11-24T12:00:00Z");

  private final StoreStatusWrites writes = new StoreStatusWrites();

  @Test
  void sizesAreWrittenOnceAMinute() throws Exception {
    JsonNode before = status(1, true);
    JsonNode after = status(2, true);

    assertThat(writes.due("s", before, after, NOON)).contains(Duration.ZERO);
    assertThat(writes.due("s", before, after, NOON.plusSeconds(20)))
        .contains(Duration.ofSeconds(40));
    assertThat(writes.due("other", before, after, NOON.plusSeconds(20))).contains(Duration.ZERO);
    assertThat(writes.due("s", before, after, NOON.plusSeconds(60))).contains(Duration.ZERO);
  }

  @Test
  void aNodeThatCanNoLongerWriteIsReportedAtOnce() throws Exception {
    writes.due("s", status(1, true), status(2, true), NOON);

    assertThat(writes.due("s", status(2, true), status(2, false), NOON)).contains(Duration.ZERO);
  }

  @Test
  void theSameIsNotWritten() throws Exception {
    assertThat(writes.due("s", status(1, true), status(1, true), NOON)).isEmpty();
  }

  private static JsonNode status(long used, boolean writable) throws Exception {
    return new ObjectMapper()
        .readTree(
            """
            {"type": "NodeLocal", "usedBytes": %d, "artifacts": %d,
             "nodes": [{"node": "n", "freeBytes": %d, "writable": %s}]}
            """
                .formatted(used, used, 100 - used, writable));
  }
}
