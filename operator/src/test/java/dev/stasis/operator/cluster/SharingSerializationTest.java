package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.PackedObject;
import io.fabric8.kubernetes.api.model.Pod;
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
  void aTreeDoesNotFollowLaterChangesAndHasTheTextOfTheObject() {
    String before = serialization.asJson(original);
    var tree = serialization.tree(original);
    original.getStatus().setDoneBytes(1L);
    assertThat(serialization.asJson(tree)).isEqualTo(before);
    assertThat(serialization.tree(original)).isNotEqualTo(tree);
    original.getStatus().setDoneBytes(12345678901L);
    assertThat(serialization.tree(original)).isEqualTo(tree);
  }
}
