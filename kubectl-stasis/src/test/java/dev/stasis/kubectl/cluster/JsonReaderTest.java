package dev.stasis.kubectl.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonReaderTest {

  private final JsonReader reader = new JsonReader();

  @Test
  void aTreeIsTheOneOfTheObjectMapper() throws Exception {
    String text =
        """
        {"a": [1, 2147483648, 9223372036854775808, -1.5, 1e3, true, false, null, "\\u00e9\\n", []],
         "b": {"c": {}, "": "d"}, "b2": {"c": 1, "c": 2}}
        """;
    assertThat(reader.tree(text)).isEqualTo(new ObjectMapper().readTree(text));
    assertThat(reader.tree("")).isEqualTo(new ObjectMapper().readTree(""));
  }

  @Test
  void whatIsNoJsonIsRefused() {
    for (String text : new String[] {"Error from server", "{\"a\": ", "[1, 2", "{]", "\"a"}) {
      assertThatThrownBy(() -> reader.tree(text)).as(text).isInstanceOf(IOException.class);
    }
  }

  /** On the stack of the plugin's main thread, which its launcher limits to 512 KiB. */
  @Test
  void nestingIsLimitedBeforeTheStackIs() throws Exception {
    boolean[] refused = new boolean[1];
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                reader.tree("[".repeat(100_000));
              } catch (IOException e) {
                refused[0] = true;
              }
            },
            "small",
            512 << 10);
    thread.start();
    thread.join();
    assertThat(refused[0]).isTrue();
  }

  @Test
  void theValuesOfAStreamFollowEachOther() throws Exception {
    byte[] stream = "{\"a\": 1}\n{\"a\": 2}{\"a\": 3}".getBytes(StandardCharsets.UTF_8);
    try (JsonReader.Values values = reader.values(new ByteArrayInputStream(stream))) {
      for (int i = 1; i <= 3; i++) {
        assertThat(values.next().path("a").asInt()).isEqualTo(i);
      }
      assertThat(values.next().isMissingNode()).isTrue();
    }
  }
}
