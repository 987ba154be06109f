package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WithoutManagedFieldsTest {

  private static final String OBJECT =
      """
      {"metadata": {"name": "trainer", "labels": {"app": "a"}, "managedFields": [
        {"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {"f:containers": {}}}}], "uid": "u", "annotations": {"b": "c"}}}
      """;

  private final KubernetesSerialization serialization;

  WithoutManagedFieldsTest() {
    ObjectMapper mapper = new ObjectMapper();
    // First the client's own settings, then ours, as in the operator.
    this.serialization = new KubernetesSerialization(mapper, false);
    new WithoutManagedFields().customize(mapper);
  }

  @ParameterizedTest
  @ValueSource(classes = {Pod.class, GpuCheckpoint.class})
  void managedFieldsAreNotCached(Class<? extends HasMetadata> kind) {
    HasMetadata read = serialization.unmarshal(OBJECT, kind);

    assertThat(read.getMetadata().getManagedFields()).isEmpty();
    assertThat(read.getMetadata().getAdditionalProperties()).isEmpty();
    assertThat(read.getMetadata().getName()).isEqualTo("trainer");
    assertThat(read.getMetadata().getUid()).isEqualTo("u");
    assertThat(read.getMetadata().getLabels()).isEqualTo(Map.of("app", "a"));
    assertThat(read.getMetadata().getAnnotations()).isEqualTo(Map.of("b", "c"));
    assertThat(serialization.asJson(read)).doesNotContain("managedFields").contains("trainer");
  }
}
