package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SchemaTest {
  static Stream<CustomResourceDefinition> definitions() throws IOException {
    KubernetesSerialization serialization = new KubernetesSerialization();
    return CrdYaml.committed().values().stream()
        .map(yaml -> serialization.unmarshal(yaml, CustomResourceDefinition.class));
  }

  /** The definitions of the kinds that users write; the others are between operator and agents. */
  static Stream<CustomResourceDefinition> definitionsOfUsers() throws IOException {
    return definitions()
        .filter(
            definition ->
                !Set.of("GpuNode", "GpuNodeOperation")
                    .contains(definition.getSpec().getNames().getKind()));
  }

  @ParameterizedTest
  @MethodSource("definitionsOfUsers")
  void aSpecHasAtMostSixFieldsAndTheRestUnderOptions(CustomResourceDefinition definition) {
    JSONSchemaProps spec = SchemaFinish.property(schema(definition), "spec");

    assertThat(spec.getProperties()).containsKey(SchemaFinish.OPTIONS).hasSizeLessThanOrEqualTo(6);
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyFieldSaysWhatItMeans(CustomResourceDefinition definition) {
    List<String> silent = new ArrayList<>();
    walk(
        schema(definition),
        (path, field) -> {
          String description = field.getDescription();
          if (description == null || !description.endsWith(".")) {
            silent.add(path);
          }
        });

    assertThat(silent).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyDefaultIsDocumented(CustomResourceDefinition definition) {
    walk(
        schema(definition),
        (path, field) -> {
          if (field.getDefault() != null && !field.getDefault().isObject()) {
            assertThat(field.getDescription())
                .as(path)
                .endsWith("Default: " + field.getDefault().asText() + ".");
          }
        });
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void bytesAndTimesAreWholeNumbersOf64Bits(CustomResourceDefinition definition) {
    walk(
        schema(definition),
        (path, field) -> {
          assertThat(field.getType()).as(path).isNotEqualTo("number");
          if (path.matches(".*(Bytes|Milliseconds|bytes|PerSecond|\\.observedGeneration)")) {
            assertThat(field.getFormat()).as(path).isEqualTo("int64");
          }
        });
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void conditionsAreMergedByTheirType(CustomResourceDefinition definition) {
    JSONSchemaProps status = SchemaFinish.property(schema(definition), "status");
    JSONSchemaProps conditions = SchemaFinish.property(status, "conditions");

    assertThat(conditions.getXKubernetesListType()).isEqualTo("map");
    assertThat(conditions.getXKubernetesListMapKeys()).containsExactly("type");
    assertThat(conditions.getItems().getSchema().getRequired()).contains("type", "status");
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void aUserCanListTheCategoryOfUsersAndEachKindHasAStatus(CustomResourceDefinition definition) {
    // The kinds that the chart's role "view" lets a user read; kubectl fails for a whole category.
    Set<String> ofUsers =
        Set.of("gpucheckpoints", "gpurestores", "gpumigrations", "gpucheckpointschedules");
    assertThat(definition.getSpec().getNames().getCategories())
        .containsExactly(
            ofUsers.contains(definition.getSpec().getNames().getPlural())
                ? "stasis"
                : "stasis-system");
    assertThat(definition.getSpec().getVersions())
        .singleElement()
        .satisfies(version -> assertThat(version.getSubresources().getStatus()).isNotNull());
  }

  /** The first line of the typical objects; {@link ColumnsApiServerTest} has a server print it. */
  @ParameterizedTest
  @MethodSource("definitions")
  void theDefaultColumnsAreThoseOfTheTypicalObjects(CustomResourceDefinition definition)
      throws IOException {
    Path typical =
        Path.of("src/test/resources/columns")
            .resolve(definition.getSpec().getNames().getShortNames().get(0) + ".yaml");
    List<String> header = List.of(Files.readAllLines(typical).get(0).split(" +"));
    List<CustomResourceColumnDefinition> columns =
        definition.getSpec().getVersions().get(0).getAdditionalPrinterColumns();
    List<String> narrow =
        columns.stream()
            .filter(column -> column.getPriority() == 0)
            .map(column -> column.getName().toUpperCase(Locale.ROOT))
            .toList();

    assertThat(header).startsWith("#", "NAME").endsWith("REASON");
    assertThat(narrow).isEqualTo(header.subList(2, header.size()));
    assertThat(columns)
        .extracting(CustomResourceColumnDefinition::getName)
        .last()
        .isEqualTo("Message");
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyColumnShowsAFieldThatExists(CustomResourceDefinition definition) {
    List<String> paths = new ArrayList<>(List.of(".metadata.creationTimestamp"));
    walk(schema(definition), (path, field) -> paths.add(path));

    assertThat(definition.getSpec().getVersions().get(0).getAdditionalPrinterColumns())
        .allSatisfy(column -> assertThat(paths).contains(column.getJsonPath()));
  }

  private static JSONSchemaProps schema(CustomResourceDefinition definition) {
    return definition.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema();
  }

  private static void walk(JSONSchemaProps root, BiConsumer<String, JSONSchemaProps> visit) {
    walk("", root, visit);
  }

  private static void walk(
      String path, JSONSchemaProps schema, BiConsumer<String, JSONSchemaProps> visit) {
    if (schema.getProperties() != null) {
      schema
          .getProperties()
          .forEach(
              (name, field) -> {
                visit.accept(path + "." + name, field);
                walk(path + "." + name, field, visit);
              });
    }
    if (schema.getItems() != null && schema.getItems().getSchema() != null) {
      walk(path + "[]", schema.getItems().getSchema(), visit);
    }
  }
}
