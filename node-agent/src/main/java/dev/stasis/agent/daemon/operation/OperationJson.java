package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The API's types as JSON. */
final class OperationJson {

  private final ObjectMapper mapper =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          // An operator or agent one version on may say more; what this one knows stays as it is.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .build();

  GpuNodeOperationStatus copy(GpuNodeOperationStatus status) {
    try {
      return mapper.treeToValue(mapper.valueToTree(status), GpuNodeOperationStatus.class);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("a status that cannot be copied", e);
    }
  }

  JsonNode tree(Object value) {
    return mapper.valueToTree(value);
  }

  byte[] bytes(Object value) throws IOException {
    return mapper.writerWithDefaultPrettyPrinter().writeValueAsBytes(value);
  }

  String text(Object value) throws IOException {
    return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(value);
  }

  <T> T read(byte[] bytes, Class<T> type) throws IOException {
    return mapper.readValue(bytes, type);
  }
}
