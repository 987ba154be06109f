package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.SourcePod;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A cluster may have many pods: of those that are merely there little is kept. */
class PodTransformTest {

  private static final List<String> GPUS = List.of("nvidia.com/gpu", "nvidia.com/gpu.shared");

  /** Everything that is read of a pod without a GPU. */
  private static final String READ =
      """
      {"apiVersion": "v1", "kind": "Pod",
       "metadata": {
         "namespace": "web", "name": "service-1", "uid": "u-1", "resourceVersion": "42",
         "creationTimestamp": "2026-11-01T00:00:00Z", "deletionTimestamp": "2026-11-02T00:00:00Z",
         "labels": {"app": "service", "pod-template-hash": "5d7c9bf8d4"},
         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "service",
           "uid": "u-0", "controller": true, "blockOwnerDeletion": true}]},
       "spec": {
         "nodeName": "node1", "priority": 7, "priorityClassName": "usual",
         "preemptionPolicy": "Never", "overhead": {"memory": "16Mi"},
         "initContainers": [
           {"name": "schema", "resources": {"requests": {"memory": "1Gi"}}},
           {"name": "mesh", "restartPolicy": "Always",
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}}}],
         "containers": [
           {"name": "service", "ports": [{"containerPort": 8080, "hostPort": 80, "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi", "example.com/nic": "1"}}}]},
       "status": {"phase": "Running", "nominatedNodeName": "node1"}}
      """;

  private final ObjectMapper json = new ObjectMapper();
  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final PodTransform kept = new PodTransform(Set.copyOf(GPUS));

  @Test
  void onlyTheFieldsThatAreReadAreKeptOfAnOrdinaryPod() throws IOException {
    Pod whole = ordinary();

    Pod pod = kept.apply(whole);

    JsonNode left = json.readTree(serialization.asJson(new PodBuilder(pod).build()));
    assertThat(left).isEqualTo(json.readTree(READ));
    assertThat(serialization.asJson(whole).length())
        .as("the pod itself is of the usual size")
        .isGreaterThan(6000);
  }

  @Test
  void aTrimmedPodIsNotTrimmedAgain() {
    Pod pod = kept.apply(ordinary());

    assertThat(kept.apply(pod)).isSameAs(pod);
  }

  @Test
  void aTrimmedPodCannotBeWritten() {
    Pod pod = kept.apply(ordinary());

    assertThatThrownBy(() -> serialization.asJson(pod))
        .hasStackTraceContaining("pod web/service-1: the cached copy is trimmed");
    assertThatThrownBy(() -> serialization.clone(pod))
        .hasStackTraceContaining("pod web/service-1: the cached copy is trimmed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{limits: {nvidia.com/gpu: '1'}}",
        "{requests: {nvidia.com/gpu: '1'}}",
        "{limits: {nvidia.com/gpu.shared: '2'}, requests: {nvidia.com/gpu.shared: '2'}}",
        "{limits: {nvidia.com/gpu: '0'}}",
        "{claims: [{name: gpu}]}"
      })
  void aPodThatAsksForAGpuIsKeptWhole(String resources) {
    for (String where : List.of("containers", "initContainers")) {
      Pod pod = read("spec: {%s: [{name: a, resources: %s}]}".formatted(where, resources));

      assertThat(kept.apply(pod)).as(where).isSameAs(pod);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "metadata: {labels: {stasis.dev/protect: enabled}}",
        "metadata: {labels: {topology.stasis.dev/gpus-1: abc}}",
        "metadata: {annotations: {stasis.dev/restored-from: ml/back}}",
        "metadata: {finalizers: [stasis.dev/finalizer]}",
        "spec: {schedulingGates: [{name: stasis.dev/restore}]}",
        "spec: {readinessGates: [{conditionType: stasis.dev/restored}]}",
        "status: {conditions: [{type: stasis.dev/Frozen, status: 'True'}]}",
        "spec: {resourceClaims: [{name: gpu}]}"
      })
  void aPodWithSomethingOfOursOnItIsKeptWhole(String field) {
    Pod pod = read(field);

    assertThat(kept.apply(pod)).isSameAs(pod);
  }

  @Test
  void aTrimmedPodIsTreatedAsOneWithoutGpus() {
    Pod pod = ordinary();
    Pod left = kept.apply(pod);

    for (Pod each : List.of(pod, left)) {
      assertThat(new GpuPods(GPUS).has(each)).isFalse();
    }
    for (String container : Arrays.asList(null, "service", "absent")) {
      assertThat(refusals(left, container)).isNotEmpty().isEqualTo(refusals(pod, container));
    }
  }

  private static List<Fault> refusals(Pod pod, @Nullable String container) {
    SourcePod.Named named = new SourcePod.Named("web", "service-1", null, container);
    return ((SourcePod.Refused) SourcePod.check(Optional.of(pod), named, GPUS)).faults();
  }

  private Pod read(String yaml) {
    Pod pod = serialization.unmarshal("apiVersion: v1\nkind: Pod\n" + yaml, Pod.class);
    PodBuilder complete = new PodBuilder(pod);
    if (pod.getMetadata() == null) {
      complete.withNewMetadata().endMetadata();
    }
    if (pod.getSpec() == null) {
      complete.withNewSpec().endSpec();
    }
    return complete.editMetadata().withNamespace("ml").withName("one").endMetadata().build();
  }

  /** What is read, and all that such a pod has besides. */
  private Pod ordinary() {
    PodBuilder pod =
        new PodBuilder(serialization.unmarshal(READ, Pod.class))
            .editMetadata()
            .withGenerateName("service-")
            .withGeneration(3L)
            .addToAnnotations("kubectl.kubernetes.io/last-applied-configuration", "x".repeat(3000))
            .addToFinalizers("example.com/finalizer")
            .addNewManagedField()
            .withManager("kubectl")
            .withOperation("Update")
            .endManagedField()
            .endMetadata()
            .editSpec()
            .withServiceAccountName("service")
            .addToNodeSelector("kubernetes.io/os", "linux")
            .addNewToleration()
            .withOperator("Exists")
            .endToleration()
            .addNewSchedulingGate("example.com/quota")
            .addNewReadinessGate("example.com/balancer")
            .addNewVolume()
            .withName("config")
            .withNewConfigMap()
            .withName("service")
            .endConfigMap()
            .endVolume()
            .editFirstContainer()
            .withImage("registry.example.com/team/service:1.42.0")
            .withCommand("/service", "--listen=:8080")
            .addNewPort()
            .withContainerPort(9090)
            .endPort()
            .addNewVolumeMount()
            .withName("config")
            .withMountPath("/etc/service")
            .endVolumeMount()
            .editResources()
            .addToLimits("memory", new io.fabric8.kubernetes.api.model.Quantity("1Gi"))
            .endResources()
            .withNewReadinessProbe()
            .withNewHttpGet()
            .withPath("/ready")
            .withNewPort(8080)
            .endHttpGet()
            .endReadinessProbe()
            .endContainer()
            .endSpec()
            .editStatus()
            .withPodIP("10.1.0.1")
            .withStartTime("2026-11-01T00:00:01Z")
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .endCondition()
            .addNewContainerStatus()
            .withName("service")
            .withRestartCount(2)
            .endContainerStatus()
            .endStatus();
    for (int i = 0; i < 40; i++) {
      pod.editSpec()
          .editFirstContainer()
          .addNewEnv()
          .withName("SETTING_NUMBER_" + i)
          .withValue("what the service needs to know, " + i)
          .endEnv()
          .endContainer()
          .endSpec();
    }
    return pod.build();
  }
}
