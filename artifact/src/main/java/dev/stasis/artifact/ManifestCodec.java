package dev.stasis.artifact;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Converts manifests to bytes and back. Equal manifests give equal bytes, so that their digests are
 * comparable.
 */
final class ManifestCodec {

  /** A tree of ten thousand processes needs about 5 MB; a reader must hold it in memory. */
  static final int MOST_BYTES = 8 << 20;

  private final JsonMapper mapper =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          // An optional property that a later tool adds within a format version does not mean
          // damage.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  byte[] bytes(Manifest manifest) {
    try {
      return (mapper.writeValueAsString(manifest) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a manifest can always be encoded", e);
    }
  }

  /**
   * Returns the format version before anything else is parsed; -1 if there is none. No tree is
   * built, because that would take many times the memory of the bytes.
   */
  int formatVersion(byte[] bytes) throws IOException {
    try (JsonParser parser = mapper.createParser(bytes)) {
      int version = -1;
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return -1;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (name.equals("formatVersion")) {
          version = parser.getValueAsInt(-1);
        }
        parser.skipChildren();
      }
      return version;
    }
  }

  Manifest manifest(byte[] bytes) throws IOException {
    return mapper.readValue(bytes, Manifest.class);
  }
}
