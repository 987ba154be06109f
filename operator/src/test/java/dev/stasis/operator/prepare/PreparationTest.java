package dev.stasis.operator.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.pod.GpuPods;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** New pods get what a restore needs, and keep what their user has set. */
class PreparationTest {

  private static final String GPU = "resources: {limits: {nvidia.com/gpu: 1}}";

  private final Preparation preparation =
      new Preparation(
          new GpuPods(List.of("nvidia.com/gpu")), new GateLibrary("registry.example/holder:1"));

  private static Pod pod(String spec) {
    return new KubernetesSerialization()
        .unmarshal("metadata: {name: trainer}\nspec: " + spec, Pod.class);
  }

  private Pod prepared(Pod pod, String level) {
    return preparation.prepared(pod, level, null).orElseThrow();
  }

  private Pod direct(Pod pod) {
    return preparation.prepared(pod, null, "direct").orElseThrow();
  }

  private static Map<String, String> environment(Pod pod, int container) {
    Map<String, String> values = new LinkedHashMap<>();
    for (EnvVar one : pod.getSpec().getContainers().get(container).getEnv()) {
      values.put(one.getName(), one.getValue());
    }
    return values;
  }

  private static @Nullable String note(Pod pod) {
    return pod.getMetadata().getAnnotations().get(Api.PREPARED_ANNOTATION);
  }

  @Test
  void aPlainGpuPodGetsTheProfileAndGoWithoutMptcp() {
    Pod pod = prepared(pod("{containers: [{name: main, " + GPU + "}, {name: side}]}"), "true");
    assertThat(pod.getSpec().getSecurityContext().getSeccompProfile().getType())
        .isEqualTo("RuntimeDefault");
    assertThat(environment(pod, 0)).isEqualTo(Map.of("GODEBUG", "multipathtcp=0"));
    assertThat(environment(pod, 1)).isEqualTo(Map.of("GODEBUG", "multipathtcp=0"));
    assertThat(note(pod))
        .isEqualTo("{\"set\":[\"main/GODEBUG\",\"seccompProfile\",\"side/GODEBUG\"],\"kept\":[]}");
  }

  @Test
  void ranksGetTheSettingsOfNcclThatWereProven() {
    Pod pod = prepared(pod("{containers: [{name: main, " + GPU + "}, {name: side}]}"), "ranks");
    assertThat(environment(pod, 0))
        .containsAllEntriesOf(
            Map.of(
                "NCCL_P2P_DISABLE", "1", "NCCL_CUMEM_HOST_ENABLE", "0", "NCCL_NVLS_ENABLE", "0"));
    assertThat(environment(pod, 1)).containsOnlyKeys("GODEBUG");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "securityContext: {seccompProfile: {type: Unconfined}}, containers: [{name: main, GPU}]",
        "containers: [{name: main, GPU, securityContext: {seccompProfile: {type: Unconfined}}}]",
      })
  void aProfileOfTheUserStays(String spec) {
    Pod before = pod("{" + spec.replace("GPU", GPU) + "}");
    Pod pod = prepared(before, "true");
    assertThat(pod.getSpec().getSecurityContext()).isEqualTo(before.getSpec().getSecurityContext());
    assertThat(note(pod)).contains("\"kept\":[\"seccompProfile\"]");
  }

  @Test
  void variablesOfTheUserStay() {
    Pod pod =
        prepared(
            pod(
                "{containers: [{name: main, env: [{name: GODEBUG, value: gctrace=1},"
                    + " {name: NCCL_P2P_DISABLE, value: '0'}], "
                    + GPU
                    + "}, {name: side, envFrom: [{configMapRef: {name: some}}]}]}"),
            "ranks");
    assertThat(environment(pod, 0))
        .containsAllEntriesOf(Map.of("GODEBUG", "gctrace=1", "NCCL_P2P_DISABLE", "0"));
    // It may be in the ConfigMap, and a variable would hide it.
    assertThat(environment(pod, 1)).isEmpty();
    assertThat(note(pod))
        .endsWith("\"kept\":[\"main/GODEBUG\",\"main/NCCL_P2P_DISABLE\",\"side/GODEBUG\"]}");
  }

  @Test
  void preparingAPreparedPodChangesNothingButWhatIsNew() {
    Pod once = prepared(pod("{containers: [{name: main, " + GPU + "}]}"), "ranks");
    assertThat(prepared(once, "ranks")).isEqualTo(once);

    // Another webhook adds a container in between.
    once.getSpec()
        .getContainers()
        .addAll(pod("{containers: [{name: side}]}").getSpec().getContainers());
    assertThat(note(prepared(once, "ranks"))).contains("main/GODEBUG", "side/GODEBUG", "seccomp");
  }

  @Test
  void anAnnotationThatMakesNoSenseIsReplaced() {
    Pod pod = pod("{containers: [{name: main, " + GPU + "}]}");
    pod.getMetadata().setAnnotations(Map.of(Api.PREPARED_ANNOTATION, "{", "mine", "1"));
    Pod prepared = prepared(pod, "true");
    assertThat(note(prepared)).contains("main/GODEBUG");
    assertThat(prepared.getMetadata().getAnnotations()).containsEntry("mine", "1");
  }

  @Test
  void otherPodsAreLeftAlone() {
    Pod gpu = pod("{containers: [{name: main, " + GPU + "}]}");
    assertThat(preparation.prepared(gpu, null, null)).isEmpty();
    assertThat(preparation.prepared(gpu, "false", null)).isEmpty();
    assertThat(preparation.prepared(pod("{containers: [{name: main}]}"), "true", null)).isEmpty();
    gpu.getMetadata().setLabels(Map.of(Api.CHECKPOINT_LABEL, "train-1"));
    assertThat(preparation.prepared(gpu, "true", null)).isEmpty();
  }

  @Test
  void theDirectPathBringsItsLibraryToContainersWithGpus() {
    Pod pod =
        direct(
            pod(
                "{securityContext: {runAsUser: 1000}, initContainers: [{name: own}],"
                    + " containers: [{name: main, "
                    + GPU
                    + "}, {name: side}]}"));
    assertThat(environment(pod, 0))
        .isEqualTo(Map.of("LD_PRELOAD", "/.stasis-gate/libstasis-gate.so"));
    assertThat(environment(pod, 1)).isEmpty();
    assertThat(pod.getSpec().getContainers().get(1).getVolumeMounts()).isEmpty();
    assertThat(pod.getSpec().getSecurityContext().getSeccompProfile()).isNull();
    assertThat(pod.getSpec().getVolumes())
        .singleElement()
        .satisfies(volume -> assertThat(volume.getEmptyDir()).isNotNull());
    assertThat(pod.getSpec().getInitContainers())
        .extracting(Container::getName)
        .containsExactly("stasis-gate", "own");
    Container installer = pod.getSpec().getInitContainers().get(0);
    assertThat(installer.getImage()).isEqualTo("registry.example/holder:1");
    assertThat(installer.getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(installer.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
    assertThat(note(pod)).isEqualTo("{\"set\":[\"main/LD_PRELOAD\"],\"kept\":[]}");
    assertThat(direct(pod)).isEqualTo(pod);
  }

  @Test
  void aPreloadOfTheUserStaysAndTheReasonIsRecorded() {
    Pod pod =
        direct(
            pod(
                "{containers: [{name: main, env: [{name: LD_PRELOAD, value: /lib/tcmalloc.so}], "
                    + GPU
                    + "}]}"));
    assertThat(environment(pod, 0)).isEqualTo(Map.of("LD_PRELOAD", "/lib/tcmalloc.so"));
    assertThat(pod.getSpec().getInitContainers()).isEmpty();
    assertThat(pod.getSpec().getVolumes()).isEmpty();
    assertThat(note(pod)).isEqualTo("{\"set\":[],\"kept\":[\"main/LD_PRELOAD\"]}");
  }

  @Test
  void anotherDataPathChangesNothing() {
    Pod pod = pod("{containers: [{name: main, " + GPU + "}]}");
    assertThat(preparation.prepared(pod, null, "Direct")).isEmpty();
  }
}
