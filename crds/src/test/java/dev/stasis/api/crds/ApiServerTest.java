package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PodReference;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the definitions make a real API server do. */
@OnTestCluster
class ApiServerTest {
  private static final Instant THEN = Instant.parse("2026-11-21T10:00:40Z");

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static ApiServer server;

  @BeforeAll
  static void connect() {
    server = ApiServer.fromEnvironment();
  }

  @AfterAll
  @SuppressWarnings("NullAway") // there is none when connect() was aborted
  static void disconnect() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void theServerSetsTheDefaultsOfTheTypes() {
    GpuCheckpointSpec typed = new GpuCheckpointSpec();
    typed.setPodRef(PodReference.of("trainer"));
    GenericKubernetesResource bare = new GenericKubernetesResource();
    bare.setApiVersion(Api.GROUP + "/" + Api.VERSION);
    bare.setKind("GpuCheckpoint");
    bare.setMetadata(named("defaults").getMetadata());
    bare.setAdditionalProperty("spec", Map.of("podRef", Map.of("name", "trainer")));

    GenericKubernetesResource stored = server.handle(bare).create();

    assertThat(tree(stored.get("spec"))).isEqualTo(tree(typed));
  }

  /** kstatus would take one without a status for finished. */
  @Test
  void anObjectThatNobodyHasSeenSaysSo() {
    Resource<GpuCheckpoint> stored = resource("unseen");
    stored.create();

    assertThat(stored.get().getStatus().getObservedGeneration()).isEqualTo(-1);
  }

  @Test
  void conditionsOfTwoOwnersCoexist() {
    Resource<GpuCheckpoint> stored = resource("owners");
    stored.create();

    apply("owners", "operator", "Ready");
    apply("owners", "watchdog", "Restorable");

    assertThat(stored.get().getStatus().getConditions())
        .extracting(Condition::type)
        .containsExactlyInAnyOrder("Ready", "Restorable");
  }

  private static void apply(String name, String owner, String type) {
    GpuCheckpoint change = named(name);
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setConditions(
        List.of(new Condition(type, ConditionValue.TRUE, "Because", "as it is", THEN, 1L)));
    change.setStatus(status);
    checkpoints()
        .resource(change)
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(owner)
                .build());
  }

  @Test
  void aWriteOfTheSpecLeavesTheStatusAlone() {
    Resource<GpuCheckpoint> stored = resource("apart");
    GpuCheckpoint created = stored.create();
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setMessage("from the spec's side");
    created.setStatus(status);

    checkpoints().resource(created).update();

    assertThat(stored.get().getStatus().getMessage()).isNull();
  }

  private static Resource<GpuCheckpoint> resource(String name) {
    GpuCheckpoint checkpoint = named(name);
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodRef(PodReference.of("trainer"));
    checkpoint.setSpec(spec);
    return checkpoints().resource(checkpoint);
  }

  private static GpuCheckpoint named(String name) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder().withName(name).withNamespace(server.namespace()).build());
    return checkpoint;
  }

  private static NonNamespaceOperation<
          GpuCheckpoint, KubernetesResourceList<GpuCheckpoint>, Resource<GpuCheckpoint>>
      checkpoints() {
    return server.client().resources(GpuCheckpoint.class).inNamespace(server.namespace());
  }

  private static JsonNode tree(Object value) {
    var serialization = server.client().getKubernetesSerialization();
    return serialization.unmarshal(serialization.asJson(value), JsonNode.class);
  }
}
