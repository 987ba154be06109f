package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaTest {
  static Stream<CustomResourceDefinition> definitions() throws IOException {
    KubernetesSerialization serialization = new KubernetesSerialization();
    return CrdYaml.committed().values().stream()
        .map(yaml -> serialization.unmarshal(yaml, CustomResourceDefinition.class));
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

  /** What kubectl prints, with values as long as they usually are. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        gckpt
        NAME          POD       NODE     PHASE       SIZE     FROZEN   AGE   REASON
        train-1       trainer   gpu-17   Cancelled   48.9Gi   14.1s    3m    Verified
        """,
        """
        grst
        NAME           CHECKPOINT   POD       NODE     PHASE       TOOK   AGE   REASON
        train-1-back   train-1      trainer   gpu-22   Succeeded   6.9s   1m    Proven
        """,
        """
        gmig
        NAME     POD       FROM     TO       PHASE            DONE   DOWNTIME   AGE
        off-17   trainer   gpu-17   gpu-22   TargetStarting   63%    9.8s       8s
        """,
        """
        gsched
        NAME     SCHEDULE       SUSPEND   LAST   KEPT   SIZE     AGE   REASON
        hourly   15 */1 * * *   false     44m    12     587Gi    3d    Scheduled
        """,
        """
        gpol
        NAME        VICTIMS   PREEMPTORS   USED   WAITING   EVICTED   AGE   REASON
        batch-low   100       1000         3      0         1         3d    Watching
        """,
        """
        gnode
        NAME     MODEL         GPUS   DRIVER       FROZEN   AGE   REASON
        gpu-17   NVIDIA H200   8      580.159.04   1        3d    AgentReady
        """,
        """
        gop
        NAME        TYPE         NODE     POD       PHASE     DONE   AGE   REASON
        gckpt-6f1   Checkpoint   gpu-17   trainer   Running   63%    3m    Dump
        """,
        """
        gstore
        NAME     TYPE         CAPACITY   USED    LOGICAL   RATIO   FREE    AGE   REASON
        chunks   SharedPath   8.0Ti      1.2Ti   4.9Ti     4.1     5.1Ti   3d    Ready
        """
      })
  void theColumnsAreThoseOfTheApiPageAndFitATerminal(String table) throws IOException {
    List<String> lines = table.lines().toList();
    CustomResourceDefinitionVersion version =
        definitions()
            .filter(one -> one.getSpec().getNames().getShortNames().contains(lines.get(0)))
            .map(one -> one.getSpec().getVersions().get(0))
            .findFirst()
            .orElseThrow();
    List<String> wanted = Arrays.asList(lines.get(1).split(" +"));
    List<String> narrow =
        version.getAdditionalPrinterColumns().stream()
            .filter(column -> column.getPriority() == 0)
            .map(column -> column.getName().toUpperCase(Locale.ROOT))
            .toList();

    assertThat(narrow).isEqualTo(wanted.subList(1, wanted.size()));
    assertThat(lines.subList(1, 3)).allMatch(line -> line.length() <= 80);
    assertThat(version.getAdditionalPrinterColumns())
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
