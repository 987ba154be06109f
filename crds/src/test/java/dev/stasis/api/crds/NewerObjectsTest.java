package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.skew.TolerantSerialization;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Definitions of a newer release are there first, and its fields in every object. */
class NewerObjectsTest {

  private static final String FIELD = "ofTomorrow";

  private final KubernetesSerialization tolerant = new TolerantSerialization();
  private final ObjectMapper json = new ObjectMapper();

  static List<CustomResourceDefinition> definitions() throws IOException {
    return SchemaTest.definitions().toList();
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void unknownFieldsAreIgnoredAtEveryLevel(CustomResourceDefinition definition) throws Exception {
    JSONSchemaProps root =
        definition.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema();
    Class<?> kind =
        Class.forName("dev.stasis.api.v1beta1." + definition.getSpec().getNames().getKind());
    AtomicInteger added = new AtomicInteger();
    int read = 0;
    for (Sample sample : Sample.all("")) {
      for (var document : sample.documents()) {
        if (!document.getKind().equals(kind.getSimpleName()) || !isReadable(document, kind)) {
          continue;
        }
        Object today = tolerant.unmarshal(tolerant.asJson(document), kind);
        ObjectNode tomorrow = (ObjectNode) json.readTree(tolerant.asJson(document));
        add(tomorrow, root, added);
        JsonNode found =
            json.readTree(tolerant.asJson(tolerant.unmarshal(tomorrow.toString(), kind)));
        // What is of Kubernetes's own types keeps what it does not know.
        found.findParents(FIELD).forEach(each -> ((ObjectNode) each).remove(FIELD));
        assertThat(found).isEqualTo(json.readTree(tolerant.asJson(today)));
        read++;
      }
    }
    assertThat(read).isPositive();
    assertThat(added.get()).isGreaterThan(read);
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void withoutThatAnUnknownFieldMakesAnObjectUnreadable(CustomResourceDefinition definition)
      throws Exception {
    Class<?> kind =
        Class.forName("dev.stasis.api.v1beta1." + definition.getSpec().getNames().getKind());
    String of = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"" + FIELD + "\":1}}";
    assertThatThrownBy(() -> new KubernetesSerialization().unmarshal(of, kind))
        .hasStackTraceContaining("Unrecognized field");
  }

  /** Some samples are of what the API server refuses, and no type can hold. */
  private boolean isReadable(Object document, Class<?> kind) {
    try {
      new KubernetesSerialization().unmarshal(tolerant.asJson(document), kind);
      return true;
    } catch (RuntimeException e) {
      return false;
    }
  }

  private void add(JsonNode at, JSONSchemaProps schema, AtomicInteger added) {
    Map<String, JSONSchemaProps> properties =
        Objects.requireNonNullElse(schema.getProperties(), Map.of());
    if (at instanceof ObjectNode object && !properties.isEmpty()) {
      properties.forEach(
          (name, of) -> {
            if (object.has(name)) {
              add(object.get(name), of, added);
            }
          });
      object.putObject(FIELD).putArray("deep").add(1).addObject().put("deeper", true);
      added.incrementAndGet();
    } else if (at.isArray() && schema.getItems() != null) {
      at.forEach(each -> add(each, schema.getItems().getSchema(), added));
    }
  }
}
