package dev.stasis.operator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.api.testing.Definitions;
import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.checkpoint.CheckpointParts;
import dev.stasis.operator.migration.MigrationParts;
import dev.stasis.operator.preemption.PolicyParts;
import dev.stasis.operator.restore.RestoreParts;
import dev.stasis.operator.schedule.ScheduleParts;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.StoreParts;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The definitions are those of the next release, and so is one object of each kind. */
@SuppressWarnings("NullAway") // made before each test; what is not there fails the test
@OnTestCluster(definitions = true)
class SkewGuardApiServerTest {

  /** Shorter than the limit of a test, which does not say what was waited for. */
  private static final Duration LONG = Duration.ofSeconds(120);

  private static final String VALUE = "OfTomorrow";

  /** Kind, the field with a new value, and the spec of its object. */
  private record Newer(String kind, String field, String spec) {}

  private static final List<Newer> OBJECTS =
      List.of(
          new Newer("GpuCheckpoint", "status.phase", "podRef: {name: trainer}"),
          new Newer("GpuRestore", "status.phase", "checkpointRef: {name: train-1}"),
          new Newer("GpuMigration", "status.phase", "podRef: {name: trainer}"),
          new Newer(
              "GpuCheckpointSchedule",
              "spec.options.concurrencyPolicy",
              "selector: {}, schedule: '@hourly', options: {concurrencyPolicy: %s}"),
          new Newer(
              "GpuPreemptionPolicy",
              "spec.options.groupPolicy",
              "victims: {maxPriority: 100}, preemptors: {minPriority: 1000},"
                  + " options: {groupPolicy: %s}"),
          new Newer(
              "GpuCheckpointStore",
              "spec.options.durability",
              "location: {sharedPath: {path: /mnt/store, layout: Chunks}},"
                  + " options: {durability: %s}"));

  private final List<CustomResourceDefinition> changed = new ArrayList<>();
  private RealCluster cluster;
  private KubernetesClient client;
  private String namespace;
  private String name;
  private TestOperator operator;

  @BeforeEach
  void serveTheNextRelease() {
    cluster = RealCluster.fromEnvironment();
    client = cluster.client();
    namespace = cluster.namespace(Map.of());
    name = RealCluster.name("newer", namespace);
    Definitions.serve(client).stream()
        .filter(it -> OBJECTS.stream().anyMatch(newer -> newer.kind().equals(kind(it))))
        .forEach(
            definition -> {
              changed.add(definition);
              Definitions.serve(client, extended(definition));
            });
  }

  @AfterEach
  void serveThisRelease() {
    if (operator != null) {
      operator.close();
    }
    for (Newer newer : OBJECTS) {
      Resource<GenericKubernetesResource> object = object(newer);
      if (object.get() != null) {
        object.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
        object.delete();
      }
    }
    changed.forEach(definition -> Definitions.serve(client, definition));
    client.namespaces().withName(namespace).delete();
    cluster.close();
  }

  @Test
  void objectsOfANewerReleaseAreLeftAloneAndTheOthersAreNot() {
    OBJECTS.forEach(this::create);
    List<Object> before = OBJECTS.stream().map(this::content).toList();
    operator =
        TestOperator.start(
            cluster,
            Clock.systemUTC(),
            List.of(
                CheckpointParts::reconciler,
                RestoreParts::reconciler,
                MigrationParts::reconciler,
                ScheduleParts::reconciler,
                PolicyParts::reconciler,
                StoreParts::reconciler));
    OBJECTS.forEach(newer -> await().atMost(LONG).until(() -> isReported(newer)));
    client.resource(generic("GpuRestore", "other", "checkpointRef: {name: " + name + "}")).create();
    await()
        .atMost(LONG)
        .until(
            () ->
                content("GpuRestore", "other")
                    .toString()
                    .contains("those of a newer release in status.phase"));
    assertThat(OBJECTS.stream().map(this::content).toList()).isEqualTo(before);

    // A deletion waits for the newer operator, because it would undo what this one does not know.
    Newer checkpoint = OBJECTS.get(0);
    object(checkpoint).delete();
    client.resource(generic("GpuRestore", "another", "checkpointRef: {name: train-1}")).create();
    await()
        .atMost(LONG)
        .until(() -> content("GpuRestore", "another").toString().contains("phase=Pending"));
    assertThat(object(checkpoint).get()).isNotNull();
    status(checkpoint, "Failed");
    await().atMost(LONG).until(() -> object(checkpoint).get() == null);
  }

  @Test
  void theApiServerRejectsTheSubstituteOfANewerValue() {
    create(OBJECTS.get(0));
    try (KubernetesClient older =
        new KubernetesClientBuilder()
            .withConfig(client.getConfiguration())
            .withKubernetesSerialization(new TolerantSerialization())
            .build()) {
      GpuCheckpoint read =
          older.resources(GpuCheckpoint.class).inNamespace(namespace).withName(name).get();
      assertThatThrownBy(() -> older.resource(read).updateStatus())
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(422))
          .hasMessageContaining("status.phase");
    }
    assertThat(content(OBJECTS.get(0)).toString()).contains("phase=" + VALUE);
  }

  private void create(Newer newer) {
    client.resource(generic(newer.kind(), name, newer.spec().formatted(VALUE))).create();
    if (newer.field().equals("status.phase")) {
      status(newer, VALUE);
    }
  }

  private void status(Newer newer, String phase) {
    object(newer)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"phase\":\"" + phase + "\"}}");
  }

  private boolean isReported(Newer newer) {
    return client.v1().events().inAnyNamespace().list().getItems().stream()
        .anyMatch(
            event ->
                Reason.UNRECOGNIZED_VALUE.value().equals(event.getReason())
                    && event.getInvolvedObject().getUid().equals(uid(newer))
                    && event.getMessage().contains(newer.field()));
  }

  private String uid(Newer newer) {
    return object(newer).get().getMetadata().getUid();
  }

  private GenericKubernetesResource generic(String kind, String name, String spec) {
    return client
        .getKubernetesSerialization()
        .unmarshal(
            "apiVersion: stasis.dev/v1beta1\nkind: %s\nmetadata: {name: %s%s}\nspec: {%s}"
                .formatted(
                    kind, name, isClusterScoped(kind) ? "" : ", namespace: " + namespace, spec),
            GenericKubernetesResource.class);
  }

  private Object content(Newer newer) {
    return content(newer.kind(), name);
  }

  /** Spec and status; the SDK adds a finalizer before it reconciles. */
  private Object content(String kind, String name) {
    Map<String, Object> fields = object(kind, name).get().getAdditionalProperties();
    return List.of(fields.getOrDefault("spec", ""), fields.getOrDefault("status", ""));
  }

  private Resource<GenericKubernetesResource> object(Newer newer) {
    return object(newer.kind(), name);
  }

  private Resource<GenericKubernetesResource> object(String kind, String name) {
    var all = client.genericKubernetesResources("stasis.dev/v1beta1", kind);
    return isClusterScoped(kind) ? all.withName(name) : all.inNamespace(namespace).withName(name);
  }

  private static boolean isClusterScoped(String kind) {
    return kind.equals("GpuPreemptionPolicy") || kind.equals("GpuCheckpointStore");
  }

  private static String kind(CustomResourceDefinition definition) {
    return definition.getSpec().getNames().getKind();
  }

  /** Returns a copy that allows the new value. */
  private CustomResourceDefinition extended(CustomResourceDefinition definition) {
    CustomResourceDefinition copy = client.getKubernetesSerialization().clone(definition);
    Newer newer =
        OBJECTS.stream().filter(it -> it.kind().equals(kind(copy))).findFirst().orElseThrow();
    JSONSchemaProps schema = copy.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema();
    for (String name : newer.field().split("\\.")) {
      schema = Objects.requireNonNull(schema.getProperties().get(name), name);
    }
    List<JsonNode> values = new ArrayList<>(schema.getEnum());
    values.add(TextNode.valueOf(VALUE));
    schema.setEnum(values);
    return copy;
  }
}
