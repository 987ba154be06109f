package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerObjects;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.PackedObject;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SharingSerializationTest {

  private static final String CHECKPOINT =
      """
      {"apiVersion":"stasis.dev/v1beta1","kind":"GpuCheckpoint",
       "metadata":{"name":"a","namespace":"ml","labels":{"x":"y"},"finalizers":["stasis.dev/f"],
                   "creationTimestamp":"2026-11-26T02:00:00Z"},
       "spec":{"podRef":{"name":"trainer"},"afterCheckpoint":"Evict","desiredState":"FromTheFuture"},
       "status":{"phase":"Saving","doneBytes":12345678901,
                 "phases":[{"phase":"Pending","time":"2026-11-26T02:00:01Z"}],
                 "conditions":[{"type":"Ready","status":"Unknown","reason":"InProgress","message":"dump",
                                "lastTransitionTime":"2026-11-26T02:00:01Z","observedGeneration":1}],
                 "artifact":{"store":"local","bytes":7},
                 "podTemplate":{"metadata":{"name":"trainer"},"spec":{"priority":7}}}}
      """;

  private final SharingSerialization serialization = ClusterParts.serialization();
  private final GpuCheckpoint original = serialization.unmarshal(CHECKPOINT, GpuCheckpoint.class);

  @Test
  void aCopyHasTheSameText() {
    GpuCheckpoint copy = serialization.clone(original);
    assertThat(serialization.asJson(copy)).isEqualTo(serialization.asJson(original));
    assertThat(serialization.unmarshal(serialization.asJson(copy), GpuCheckpoint.class).getSpec())
        .usingRecursiveComparison()
        .isEqualTo(original.getSpec());
    Pod pod = serialization.unmarshal("{\"kind\":\"Pod\",\"x\":{\"y\":[1]}}", Pod.class);
    assertThat(serialization.asJson(serialization.clone(pod)))
        .isEqualTo(serialization.asJson(pod))
        .contains("\"y\":[1]");
  }

  @Test
  void aCopySharesOnlyWhatCannotChange() {
    String before = serialization.asJson(original);
    GpuCheckpoint copy = serialization.clone(original);
    Objects.requireNonNull(copy.getMetadata().getLabels()).clear();
    copy.getStatus().setDoneBytes(1L);
    copy.getStatus().setPhases(null);
    assertThat(serialization.asJson(original)).isEqualTo(before);
    assertThat(copy.getStatus().getPodTemplate())
        .isInstanceOf(PackedObject.class)
        .isSameAs(original.getStatus().getPodTemplate());
  }

  @Test
  void aCopySharesTheRecordsOfAStatusButNotTheirListNorAnythingElse() {
    String before = serialization.asJson(original);
    GpuCheckpoint copy = serialization.clone(original);
    var phases = Objects.requireNonNull(copy.getStatus().getPhases());
    var conditions = Objects.requireNonNull(copy.getStatus().getConditions());
    assertThat(phases.get(0))
        .isSameAs(Objects.requireNonNull(original.getStatus().getPhases()).get(0));
    assertThat(conditions.get(0))
        .isSameAs(Objects.requireNonNull(original.getStatus().getConditions()).get(0));

    phases.clear();
    conditions.clear();
    Objects.requireNonNull(copy.getStatus().getArtifact()).setBytes(8L);
    copy.getSpec().getOptions().setCancel(true);
    assertThat(serialization.asJson(original)).isEqualTo(before);
  }

  @Test
  void aTreeDoesNotFollowLaterChangesAndHasTheTextOfTheObject() {
    String before = serialization.asJson(original);
    var tree = serialization.tree(original);
    original.getStatus().setDoneBytes(1L);
    assertThat(serialization.asJson(tree)).isEqualTo(before);
    assertThat(serialization.tree(original)).isNotEqualTo(tree);
    original.getStatus().setDoneBytes(12345678901L);
    assertThat(serialization.tree(original)).isEqualTo(tree);
  }

  @Test
  void anEventOfAWatchIsReadAsFabric8ReadsIt() {
    serialization.registerKubernetesResource(GpuCheckpoint.class);
    KubernetesSerialization usual =
        new KubernetesSerialization(new ObjectMapper().registerModule(new NewerObjects()), false);
    usual.registerKubernetesResource(GpuCheckpoint.class);
    String pod = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"}}";
    for (String event :
        List.of(
            "{\"type\":\"MODIFIED\",\"object\":" + CHECKPOINT + "}",
            "{\"object\":" + CHECKPOINT + ",\"type\":\"MODIFIED\"}",
            "{\"type\":\"ADDED\",\"object\":" + CHECKPOINT + ",\"more\":{\"a\":1}}",
            "{\"type\":\"DELETED\",\"object\":{\"kind\":\"GpuCheckpoint\",\"metadata\":{\"name\":\"a\"},"
                + "\"apiVersion\":\"stasis.dev/v1beta1\"}}",
            "{\"type\":\"ADDED\",\"object\":" + pod + "}")) {
      WatchEvent read = serialization.unmarshal(event, WatchEvent.class);
      WatchEvent expected = usual.unmarshal(event, WatchEvent.class);
      assertThat(read.getType()).isEqualTo(expected.getType());
      assertThat(read.getObject()).hasSameClassAs(expected.getObject());
      assertThat(serialization.asJson(read)).isEqualTo(usual.asJson(expected));
    }
    assertThatThrownBy(
            () ->
                serialization.unmarshal(
                    "{\"type\":\"ADDED\",\"object\":" + CHECKPOINT, WatchEvent.class))
        .isInstanceOf(KubernetesClientException.class);
  }

  @Test
  void anEventThatSeveralWatchesReceiveIsReadOnce() {
    serialization.registerKubernetesResource(GpuCheckpoint.class);
    String event = "{\"type\":\"ADDED\",\"object\":" + CHECKPOINT + "}";
    Object first = read(event);
    assertThat(read(event)).isSameAs(first);

    String changed = event.replace("\"priority\":7", "\"priority\":8");
    assertThat(serialization.asJson(read(changed))).contains("\"priority\":8");
    assertThat(read(event.replace("ADDED", "DELETED"))).isNotSameAs(first);
  }

  @Test
  void anObjectThatSeveralListsContainIsKeptOnce() {
    GpuCheckpoint first = listed(CHECKPOINT, "1");
    assertThat(listed(CHECKPOINT, "1")).isSameAs(first);
    assertThat(listed(CHECKPOINT.replace("trainer", "other"), "2").getSpec().podName())
        .isEqualTo("other");
    assertThat(serialization.clone(first)).isNotSameAs(first);
    assertThat(list("{\"kind\":\"GpuCheckpointList\",\"items\":null}").getItems()).isNullOrEmpty();
  }

  @Test
  void equalTextsOfObjectsAreOneString() {
    GpuCheckpoint other = listed(CHECKPOINT.replace("trainer", "other"), "2");
    assertThat(other.getMetadata().getNamespace()).isSameAs(original.getMetadata().getNamespace());
    assertThat(other.getMetadata().getFinalizers().get(0))
        .isSameAs(original.getMetadata().getFinalizers().get(0));
    assertThat(Objects.requireNonNull(other.getStatus().getConditions()).get(0).reason())
        .isSameAs(Objects.requireNonNull(original.getStatus().getConditions()).get(0).reason());
    assertThat(other.getSpec().podName()).isEqualTo("other");
  }

  /** The fingerprint of a workload has 2 kB, and replicas have the same one. */
  @Test
  void equalFingerprintsAreOneString() {
    String first = fingerprint("cpu.features=" + "f".repeat(2_000));
    assertThat(fingerprint("cpu.features=" + "f".repeat(2_000))).isSameAs(first);
    assertThat(fingerprint("cpu.features=" + "g".repeat(2_000))).isNotEqualTo(first);
    assertThat(fingerprint("f".repeat(10_000))).isNotSameAs(fingerprint("f".repeat(10_000)));
  }

  private String fingerprint(String text) {
    String object =
        CHECKPOINT.replace(
            "\"phase\":\"Saving\"", "\"hardware\":{\"fingerprint\":\"" + text + "\"}");
    GpuCheckpoint read = serialization.unmarshal(object, GpuCheckpoint.class);
    return Objects.requireNonNull(
        Objects.requireNonNull(read.getStatus().getHardware()).fingerprint());
  }

  /** Reads a list with one object of that version. */
  private GpuCheckpoint listed(String checkpoint, String version) {
    String list =
        "{\"apiVersion\":\"stasis.dev/v1beta1\",\"kind\":\"GpuCheckpointList\",\"items\":["
            + checkpoint.replace(
                "\"name\":\"a\"",
                "\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"" + version + "\"")
            + "]}";
    return list(list).getItems().get(0);
  }

  private DefaultKubernetesResourceList<GpuCheckpoint> list(String text) {
    return serialization.unmarshal(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), new TypeReference<>() {});
  }

  @Test
  void longEventsAreNotRemembered() {
    serialization.registerKubernetesResource(GpuCheckpoint.class);
    String event =
        "{\"type\":\"ADDED\",\"object\":"
            + CHECKPOINT.replace("\"y\"", "\"" + "y".repeat(40_000) + "\"")
            + "}";
    assertThat(read(event)).isNotSameAs(read(event));
  }

  private Object read(String event) {
    return serialization.unmarshal(event, WatchEvent.class).getObject();
  }
}
