package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operator would create it, also for a user who may not and where no admission forbids it. */
class ImportedPodPolicyTest {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  private final ImportedPodPolicy imported = new ImportedPodPolicy(new Template(YAML));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hostNetwork: true",
        "hostPID: true",
        "hostIPC: true",
        "volumes: [{name: v, hostPath: {path: /}}]",
        "securityContext: {seccompProfile: {type: Unconfined}}",
        "securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}",
        "containers: [{name: main, securityContext: {privileged: true}}]",
        "containers: [{name: main, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]",
        "containers: [{name: main, securityContext: {procMount: Unmasked}}]",
        "containers: [{name: main, securityContext: {seccompProfile: {type: Unconfined}}}]",
        "containers: [{name: main, securityContext: {appArmorProfile: {type: Unconfined}}}]",
        "containers: [{name: main, ports: [{containerPort: 1, hostPort: 1}]}]",
        "initContainers: [{name: in, securityContext: {privileged: true}}]"
      })
  void aPodThatReachesOutOfItsContainersIsRefused(String spec) {
    assertThat(faults("trainer", spec))
        .singleElement()
        .satisfies(
            fault -> {
              assertThat(fault.reason()).isEqualTo("NotImported");
              assertThat(fault.property()).startsWith("spec.");
            });
  }

  @Test
  void aDefaultCapabilityDoesNotViolateThePolicy() {
    assertThat(
            faults(
                "trainer",
                "containers: [{name: main, securityContext: {capabilities: {add: [CHOWN]}}}]"))
        .isEmpty();
  }

  @Test
  void anotherPodOrNoneIsRefused() {
    assertThat(faults("other", "hostPID: false"))
        .extracting(Fault::message)
        .containsExactly("pod of the artifact: expected trainer, got other");
    assertThat(imported.faults(null, "trainer")).hasSize(1);
    assertThat(imported.faults(Map.of("metadata", Map.of("name", "trainer")), "trainer"))
        .hasSize(1);
  }

  private List<Fault> faults(String name, String spec) {
    Map<String, Object> whole = new HashMap<>();
    whole.put("containers", List.of(Map.of("name", "main", "image", "trainer:1")));
    Map<?, ?> asked = YAML.unmarshal(spec, Map.class);
    asked.forEach((key, value) -> whole.put(String.valueOf(key), value));
    return imported.faults(Map.of("metadata", Map.of("name", name), "spec", whole), "trainer");
  }
}
