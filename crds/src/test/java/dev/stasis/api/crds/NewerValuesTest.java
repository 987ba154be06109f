package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An enum of the next release has one value more, and an object has it already. */
class NewerValuesTest {

  private static final String VALUE = "OfTomorrow";

  private final KubernetesSerialization tolerant = new TolerantSerialization();
  private final ObjectMapper json = new ObjectMapper();

  /** An enum of a schema. */
  private record Choice(String path, JSONSchemaProps schema) {
    /** Kubernetes itself closes the list of True, False and Unknown. */
    boolean isOpen() {
      return schema.getEnum().stream().noneMatch(value -> value.asText().equals("Unknown"))
          || schema.getEnum().size() > 3;
    }
  }

  static List<CustomResourceDefinition> definitions() throws IOException {
    return SchemaTest.definitions().toList();
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void aListIsReadWhenOneOfItsObjectsHasAValueOfANewerRelease(CustomResourceDefinition definition)
      throws Exception {
    List<Choice> choices = choices(definition);
    assertThat(choices).isNotEmpty();
    for (Choice choice : choices) {
      List<CustomResource<?, ?>> read = read(definition, withValue(choice, VALUE), tolerant);

      assertThat(UnrecognizedValues.in(read.get(0))).as(choice.path()).isEmpty();
      assertThat(UnrecognizedValues.in(read.get(1))).hasSize(1);
      assertThat(UnrecognizedValues.in(read.get(1)).get(0).replace("[0]", "[]"))
          .isEqualTo(choice.path());
    }
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void valuesOfThisReleaseAreRecognized(CustomResourceDefinition definition) throws Exception {
    for (Choice choice : choices(definition)) {
      for (JsonNode value : choice.schema().getEnum()) {
        List<CustomResource<?, ?>> read =
            read(definition, withValue(choice, value.asText()), tolerant);

        assertThat(UnrecognizedValues.in(read.get(1))).as(choice.path() + " " + value).isEmpty();
      }
    }
  }

  static List<Sample> samples() throws IOException {
    return Sample.all("valid-");
  }

  @ParameterizedTest
  @MethodSource("samples")
  void everyObjectOfThisReleaseIsRecognized(Sample sample) throws Exception {
    for (GenericKubernetesResource document : sample.documents()) {
      Class<?> kind = Class.forName("dev.stasis.api.v1beta1." + document.getKind());
      Object read = tolerant.unmarshal(tolerant.asJson(document), kind);

      assertThat(UnrecognizedValues.in((CustomResource<?, ?>) read)).isEmpty();
    }
  }

  /** The template of a pod is another kind of map than Java's own. */
  @Test
  void anObjectWithATemplateOfAPodIsRecognized() {
    GpuCheckpoint checkpoint =
        tolerant.unmarshal(
            """
            {"spec": {"podRef": {"name": "a"}},
             "status": {"podTemplate": {"metadata": {"name": "OfTomorrow"}}, "phase": "Ready"}}
            """,
            GpuCheckpoint.class);

    assertThat(checkpoint.getStatus().getPodTemplate()).isNotEmpty();
    assertThat(UnrecognizedValues.in(checkpoint)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void aCopyIsStillNotRecognized(CustomResourceDefinition definition) throws Exception {
    Choice choice = choices(definition).get(0);
    CustomResource<?, ?> read = read(definition, withValue(choice, VALUE), tolerant).get(1);

    assertThat(UnrecognizedValues.in(tolerant.clone(read))).isEqualTo(UnrecognizedValues.in(read));
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void theSchemaRejectsTheSubstituteOfAnUnknownValue(CustomResourceDefinition definition) {
    assertThat(choices(definition))
        .allSatisfy(
            choice ->
                assertThat(choice.schema().getEnum())
                    .extracting(JsonNode::asText)
                    .doesNotContain(SchemaFinish.UNRECOGNIZED));
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void withoutThatAnUnknownValueMakesAListUnreadable(CustomResourceDefinition definition) {
    Choice choice = choices(definition).get(0);
    assertThatThrownBy(
            () -> read(definition, withValue(choice, VALUE), new KubernetesSerialization()))
        .hasStackTraceContaining(VALUE);
  }

  private List<CustomResource<?, ?>> read(
      CustomResourceDefinition definition, ObjectNode object, KubernetesSerialization with)
      throws Exception {
    Class<?> kind =
        Class.forName("dev.stasis.api.v1beta1." + definition.getSpec().getNames().getKind());
    ObjectNode list = json.createObjectNode();
    ArrayNode items = list.putArray("items");
    items.addObject().putObject("metadata").put("name", "other");
    items.add(object);
    DefaultKubernetesResourceList<CustomResource<?, ?>> read =
        with.unmarshal(
            new ByteArrayInputStream(list.toString().getBytes(StandardCharsets.UTF_8)),
            new TypeReference<>() {
              @Override
              public Type getType() {
                return with.constructParametricType(DefaultKubernetesResourceList.class, kind);
              }
            });
    return read.getItems();
  }

  /** An object with that field alone. */
  private ObjectNode withValue(Choice choice, String value) {
    JsonNode content = json.getNodeFactory().textNode(value);
    String[] names = choice.path().split("\\.");
    for (int i = names.length - 1; i >= 0; i--) {
      if (names[i].endsWith("[]")) {
        content = json.createArrayNode().add(content);
      }
      content = json.createObjectNode().set(names[i].replace("[]", ""), content);
    }
    ((ObjectNode) content).putObject("metadata").put("name", "newer");
    return (ObjectNode) content;
  }

  private static List<Choice> choices(CustomResourceDefinition definition) {
    List<Choice> choices = new ArrayList<>();
    definition
        .getSpec()
        .getVersions()
        .get(0)
        .getSchema()
        .getOpenAPIV3Schema()
        .getProperties()
        .forEach((name, schema) -> collect(name, schema, choices));
    return choices.stream().filter(Choice::isOpen).toList();
  }

  private static void collect(String path, JSONSchemaProps schema, List<Choice> into) {
    if (schema.getEnum() != null && !schema.getEnum().isEmpty()) {
      into.add(new Choice(path, schema));
    }
    Map<String, JSONSchemaProps> properties = schema.getProperties();
    if (properties != null) {
      properties.forEach((name, field) -> collect(path + "." + name, field, into));
    }
    if (schema.getItems() != null) {
      collect(path + "[]", schema.getItems().getSchema(), into);
    }
  }
}
