package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TypesTest {
  private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

  static Stream<CustomResourceDefinition> definitions() throws IOException {
    return SchemaTest.definitions();
  }

  /** The API server drops a field that the schema does not have, without an error. */
  @Test
  void oneMergePatchCancelsEachRequest() {
    assertThat(
            SERIALIZATION
                .convertValue(Api.CANCEL, GpuCheckpointSpec.class)
                .getOptions()
                .getCancel())
        .isTrue();
    assertThat(
            SERIALIZATION.convertValue(Api.CANCEL, GpuRestoreSpec.class).getOptions().getCancel())
        .isTrue();
    assertThat(
            SERIALIZATION.convertValue(Api.CANCEL, GpuMigrationSpec.class).getOptions().getCancel())
        .isTrue();
  }

  /** The CRUD server of the single-machine mode fills in no defaults, so the types have to. */
  @ParameterizedTest
  @MethodSource("definitions")
  void theTypesHaveTheDefaultsOfTheSchema(CustomResourceDefinition definition) throws Exception {
    JSONSchemaProps root =
        definition.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema();
    Class<?> kind =
        CrdYaml.KINDS.stream()
            .filter(one -> one.getSimpleName().equals(definition.getSpec().getNames().getKind()))
            .findFirst()
            .orElseThrow();
    Class<?> spec =
        (Class<?>) ((ParameterizedType) kind.getGenericSuperclass()).getActualTypeArguments()[0];

    compareDefaults(SchemaFinish.property(root, "spec"), spec);
  }

  private static void compareDefaults(JSONSchemaProps schema, Class<?> type) throws Exception {
    boolean bean = type.getName().startsWith("dev.stasis.") && !type.isRecord() && !type.isEnum();
    if (schema.getProperties() == null || !bean) {
      return;
    }
    Map<?, ?> made =
        SERIALIZATION.unmarshal(
            SERIALIZATION.asJson(type.getDeclaredConstructor().newInstance()), Map.class);
    for (Map.Entry<String, JSONSchemaProps> property : schema.getProperties().entrySet()) {
      JsonNode wanted = property.getValue().getDefault();
      Object found = made.get(property.getKey());
      // The default of options is an empty object, which the defaults of its fields fill.
      if (wanted == null || !wanted.isObject()) {
        assertThat(found == null ? JsonNodeFactory.instance.nullNode() : tree(found))
            .as("%s of %s", property.getKey(), type.getSimpleName())
            .isEqualTo(wanted == null ? JsonNodeFactory.instance.nullNode() : wanted);
      }
      for (Class<?> part = type; part != Object.class; part = part.getSuperclass()) {
        for (var field : part.getDeclaredFields()) {
          if (field.getName().equals(property.getKey())) {
            compareDefaults(property.getValue(), field.getType());
          }
        }
      }
    }
  }

  private static JsonNode tree(Object value) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    return mapper.readTree(mapper.writeValueAsString(value));
  }

  @Test
  void theExampleOfTheApiPageIsReadAndWrittenWithoutLoss() throws IOException {
    String example =
        new String(
            TypesTest.class.getResourceAsStream("/api-page-example.yaml").readAllBytes(),
            StandardCharsets.UTF_8);

    GpuCheckpoint checkpoint = SERIALIZATION.unmarshal(example, GpuCheckpoint.class);

    assertThat(checkpoint.getStatus().getPhase()).isEqualTo(CheckpointPhase.READY);
    assertThat(checkpoint.getStatus().getConditions()).hasSize(3);
    assertThat(checkpoint.getSpec().getOptions().getDeadline().duration())
        .isEqualTo(Duration.ofMinutes(30));
    JsonNode wanted = SERIALIZATION.unmarshal(example, JsonNode.class);
    JsonNode found = SERIALIZATION.unmarshal(SERIALIZATION.asYaml(checkpoint), JsonNode.class);
    assertThat(found.get("status")).isEqualTo(wanted.get("status"));
    assertThat(found.get("metadata")).isEqualTo(wanted.get("metadata"));
  }

  static Stream<Class<? extends Enum<?>>> phases() {
    return Stream.of(
        CheckpointPhase.class, RestorePhase.class, MigrationPhase.class, OperationPhase.class);
  }

  @ParameterizedTest
  @MethodSource("phases")
  void everyPhaseIsReachedFromPendingAndLeadsToAnEnd(Class<? extends Enum<?>> type) {
    List<Phase<?>> all =
        Stream.of(type.getEnumConstants())
            .<Phase<?>>map(Phase.class::cast)
            .filter(phase -> !phase.value().equals(SchemaFinish.UNRECOGNIZED))
            .toList();

    assertThat(all.get(0).value()).isEqualTo("Pending");
    assertThat(reached(all.get(0))).containsAll(all);
    for (Phase<?> phase : all) {
      assertThat(reached(phase)).as(phase.value()).anyMatch(Phase::isFinal);
      assertThat(phase.successors().contains(phase)).as(phase.value()).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("phases")
  void aPhaseOfANewerReleaseIsNotFinal(Class<? extends Enum<?>> type) {
    assertThat(type.getEnumConstants())
        .filteredOn(phase -> ((Phase<?>) phase).value().equals(SchemaFinish.UNRECOGNIZED))
        .singleElement()
        .matches(phase -> !((Phase<?>) phase).isFinal());
  }

  private static Set<Phase<?>> reached(Phase<?> from) {
    Set<Phase<?>> reached = new HashSet<>(Set.of(from));
    Deque<Phase<?>> next = new ArrayDeque<>(reached);
    while (!next.isEmpty()) {
      for (Phase<?> successor : next.remove().successors()) {
        if (reached.add(successor)) {
          next.add(successor);
        }
      }
    }
    return reached;
  }

  @ParameterizedTest
  @CsvSource({"90s, 90", "10m, 600", "168h, 604800", "1h30m, 5400", "1h1m1s, 3661", "0s, 0"})
  void aDurationIsReadAsPeopleWriteIt(String text, long seconds) {
    assertThat(TimeSpan.of(text).duration()).isEqualTo(Duration.ofSeconds(seconds));
    assertThat(text).matches(TimeSpan.PATTERN);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "90", "1d", "1m1h", "-5s", "1.5h", "5 s", "999999h"})
  void anythingElseIsNoDuration(String text) {
    assertThatThrownBy(() -> TimeSpan.of(text))
        .hasMessage("duration: expected one like 90s, 10m or 168h, got \"" + text + "\"");
  }

  @Test
  void everyKindIsACustomResource() {
    assertThat(CrdYaml.KINDS).allMatch(CustomResource.class::isAssignableFrom).hasSize(8);
  }
}
