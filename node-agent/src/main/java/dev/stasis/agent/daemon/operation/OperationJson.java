package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The API's types as JSON. */
final class OperationJson {

  /** Line breaks are kept, because a pod is parsed from the text, and certificates contain them. */
  private static final Set<String> VERBATIM = Set.of("podTemplate", "argv", "listening");

  /**
   * C0 except line breaks and tabs, DEL, C1, and the characters that change the writing direction.
   */
  private static final Pattern CONTROL =
      Pattern.compile(
          "(?![\n\t])[\\p{Cntrl}\\x{80}-\\x{9f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]");

  private final ObjectMapper mapper =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          // An operator or agent one version newer may have more fields; the known ones keep their
          // meaning.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .build();

  GpuNodeOperationStatus copy(GpuNodeOperationStatus status) {
    return status(mapper.valueToTree(status));
  }

  private GpuNodeOperationStatus status(JsonNode tree) {
    try {
      return mapper.treeToValue(tree, GpuNodeOperationStatus.class);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("a status that cannot be copied", e);
    }
  }

  /**
   * Copies a status. A workload chooses names of processes and files, and the output of hooks, so
   * control characters in them are replaced by question marks.
   */
  GpuNodeOperationStatus printable(GpuNodeOperationStatus status) {
    ObjectNode tree = mapper.valueToTree(status);
    tree.fields().forEachRemaining(field -> field.setValue(printable(field)));
    return status(tree);
  }

  private static JsonNode printable(Map.Entry<String, JsonNode> field) {
    return VERBATIM.contains(field.getKey()) ? field.getValue() : printable(field.getValue());
  }

  private static JsonNode printable(JsonNode node) {
    if (node.isTextual()) {
      return TextNode.valueOf(CONTROL.matcher(node.textValue()).replaceAll("?"));
    }
    if (node instanceof ObjectNode object) {
      object.fields().forEachRemaining(field -> field.setValue(printable(field.getValue())));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, printable(array.get(i)));
      }
    }
    return node;
  }

  JsonNode tree(Object value) {
    return mapper.valueToTree(value);
  }

  String text(Object value) throws IOException {
    return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(value);
  }

  <T> T read(byte[] bytes, Class<T> type) throws IOException {
    return mapper.readValue(bytes, type);
  }

  /** Reads the operation that a journal describes. */
  GpuNodeOperation operation(JsonNode description) throws IOException {
    return mapper.treeToValue(description, GpuNodeOperation.class);
  }
}
