package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.PackedObject;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class PackedObjectTest {

  private static final String POD =
      """
      {"metadata":{"name":"trainer","labels":{"a":"b"}},
       "spec":{"priority":7,"hostNetwork":false,"tolerations":[{"tolerationSeconds":300}],
               "containers":[{"name":"c","env":[{"name":"E","value":"\\u00e9 \\"x\\""}]}],
               "nothing":null,"half":0.5,"long":12345678901}}
      """;

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final ObjectMapper json = new ObjectMapper();

  @Test
  void aPackedObjectIsReadBackUnchanged() throws Exception {
    Map<String, Object> template = template(POD);
    assertThat(template).isInstanceOf(PackedObject.class);
    assertThat(template).isEqualTo(json.readValue(POD, Map.class));
    assertThat(template.get("spec")).isEqualTo(json.readValue(POD, Map.class).get("spec"));
    assertThat(json.readTree(serialization.asJson(template))).isEqualTo(json.readTree(POD));
    Pod pod = serialization.convertValue(template, Pod.class);
    assertThat(pod.getSpec().getPriority()).isEqualTo(7);
  }

  @Test
  void anObjectThatIsWrittenAgainIsTheSame() {
    GpuCheckpoint read = checkpoint(POD);
    GpuCheckpoint again = serialization.unmarshal(serialization.asJson(read), GpuCheckpoint.class);
    assertThat(serialization.asJson(again)).isEqualTo(serialization.asJson(read));
    assertThat(Objects.requireNonNull(again.getStatus()).getPodTemplate())
        .isEqualTo(Objects.requireNonNull(read.getStatus()).getPodTemplate());
    assertThat(serialization.asJson(serialization.clone(read)))
        .isEqualTo(serialization.asJson(read));
  }

  @Test
  void anEqualObjectIsSharedAndAnotherOneIsNot() {
    Map<String, Object> template = template(POD);
    assertThat(template(POD)).isSameAs(template);
    Map<String, Object> other = template(POD.replace("trainer", "intruder"));
    assertThat(other).isNotEqualTo(template);
    assertThat(other.toString()).contains("intruder");
    assertThat(template.toString()).contains("trainer");
  }

  @Test
  void nullStaysNullAndAnythingButAnObjectIsRefused() {
    assertThat(Objects.requireNonNull(checkpoint("null").getStatus()).getPodTemplate()).isNull();
    assertThatThrownBy(() -> checkpoint("[1]"))
        .hasStackTraceContaining("expected an object, got START_ARRAY");
  }

  @Test
  void aPackedObjectIsImmutable() {
    Map<String, Object> template = template(POD);
    assertThatThrownBy(() -> template.put("a", 1))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(template::clear).isInstanceOf(UnsupportedOperationException.class);
  }

  private Map<String, Object> template(String pod) {
    return Objects.requireNonNull(
        Objects.requireNonNull(checkpoint(pod).getStatus()).getPodTemplate());
  }

  private GpuCheckpoint checkpoint(String pod) {
    return serialization.unmarshal(
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"podRef\":{\"name\":\"trainer\"}},"
            + "\"status\":{\"podTemplate\":"
            + pod
            + "}}",
        GpuCheckpoint.class);
  }
}
