package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Running pods without a GPU, as every cluster is full of, in the API server only: some 6 kB of
 * JSON each, beside who wrote which field.
 */
record OrdinaryPods(KubernetesClient admin, String namespace) {

  private static final int VARIABLES = 24;
  private static final String IMAGE = "registry.example.com/team/service:1.42.0";

  void make(String name, String node) {
    Pod made = admin.pods().inNamespace(namespace).resource(pod(name, node)).create();
    admin.pods().inNamespace(namespace).resource(running(made)).updateStatus();
  }

  /** How much JSON one of them is but for who wrote which field, in bytes. */
  int bytes(String name) {
    Pod pod = admin.pods().inNamespace(namespace).withName(name).get();
    pod.getMetadata().setManagedFields(List.of());
    return admin.getKubernetesSerialization().asJson(pod).length();
  }

  private static Pod pod(String name, String node) {
    List<EnvVar> variables =
        IntStream.range(0, VARIABLES)
            .mapToObj(
                index ->
                    new EnvVar(
                        "SETTING_NUMBER_" + index,
                        "what the service " + name + " needs to know, " + index,
                        null))
            .toList();
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .addToLabels("app.kubernetes.io/name", "service")
        .addToLabels("app.kubernetes.io/instance", name)
        .addToLabels("pod-template-hash", "5d7c9bf8d4")
        .addToAnnotations("prometheus.io/scrape", "true")
        .addToAnnotations("checksum/config", "9f86d081884c7d659a2feaa0c55ad015".repeat(2))
        .addToAnnotations("example.com/injected", ("settings of a sidecar of " + name).repeat(16))
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .addNewToleration()
        .withOperator("Exists")
        .endToleration()
        .addNewContainer()
        .withName("service")
        .withImage(IMAGE)
        .withArgs("--listen=:8080", "--verbose", "--config=/etc/service/config.yaml")
        .withEnv(variables)
        .addNewPort()
        .withName("http")
        .withContainerPort(8080)
        .endPort()
        .withNewResources()
        .addToRequests("cpu", new Quantity("100m"))
        .addToRequests("memory", new Quantity("128Mi"))
        .addToLimits("memory", new Quantity("256Mi"))
        .endResources()
        .withNewReadinessProbe()
        .withNewHttpGet()
        .withPath("/ready")
        .withNewPort(8080)
        .endHttpGet()
        .endReadinessProbe()
        .addNewVolumeMount()
        .withName("config")
        .withMountPath("/etc/service")
        .endVolumeMount()
        .endContainer()
        .addNewVolume()
        .withName("config")
        .withNewConfigMap()
        .withName("service")
        .endConfigMap()
        .endVolume()
        .endSpec()
        .build();
  }

  private static Pod running(Pod made) {
    String since = made.getMetadata().getCreationTimestamp();
    PodBuilder running =
        new PodBuilder(made)
            .withNewStatus()
            .withPhase("Running")
            .withHostIP("10.0.0.1")
            .withPodIP("10.1.0.1")
            .withStartTime(since)
            .addNewContainerStatus()
            .withName("service")
            .withContainerID("containerd://" + "9f86d081884c7d659a2feaa0c55ad015".repeat(2))
            .withImage(IMAGE)
            .withImageID("registry.example.com/team/service@sha256:" + "60303ae22b998861".repeat(4))
            .withReady(true)
            .withStarted(true)
            .withRestartCount(0)
            .withNewState()
            .withNewRunning(since)
            .endState()
            .endContainerStatus()
            .endStatus();
    for (String type : List.of("PodScheduled", "Initialized", "ContainersReady", "Ready")) {
      running
          .editStatus()
          .addNewCondition()
          .withType(type)
          .withStatus("True")
          .withLastTransitionTime(since)
          .endCondition()
          .endStatus();
    }
    return running.build();
  }
}
