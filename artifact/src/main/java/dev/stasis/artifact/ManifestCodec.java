package dev.stasis.artifact;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Manifests as bytes. Equal manifests give equal bytes, so that a digest of them means something.
 */
final class ManifestCodec {
  private final JsonMapper mapper =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          // An optional property that a later tool adds within a format version is no damage.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  byte[] bytes(Manifest manifest) {
    try {
      return (mapper.writeValueAsString(manifest) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("every manifest can be written", e);
    }
  }

  /** The format version, before anything else is understood; -1 when there is none. */
  int formatVersion(byte[] bytes) throws IOException {
    JsonNode node = mapper.readTree(bytes);
    return node == null ? -1 : node.path("formatVersion").asInt(-1);
  }

  Manifest manifest(byte[] bytes) throws IOException {
    return mapper.readValue(bytes, Manifest.class);
  }
}
