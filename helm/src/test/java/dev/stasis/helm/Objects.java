package dev.stasis.helm;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Objects as small as the schemas let them be. */
final class Objects {
  private static final String VERSION = "stasis.dev/v1beta1";

  private Objects() {}

  static GenericKubernetesResource node(String name) {
    return of("GpuNode", null, name, Map.of());
  }

  static GenericKubernetesResource operation(String namespace, String name, String node) {
    return of(
        "GpuNodeOperation",
        namespace,
        name,
        Map.of(
            "type",
            "Resume",
            "nodeName",
            node,
            "requester",
            Map.of("kind", "GpuCheckpoint", "namespace", "ml", "name", "train-1", "uid", "u1"),
            "pod",
            Map.of("namespace", "ml", "name", "trainer", "uid", "u2", "containerName", "main"),
            "ofOperation",
            "ckpt-u1-suspend-1"));
  }

  static GenericKubernetesResource checkpoint(String namespace, String name) {
    return of("GpuCheckpoint", namespace, name, Map.of("podRef", Map.of("name", "trainer")));
  }

  static GenericKubernetesResource checkpoint(
      String namespace, String name, Map<String, Object> spec) {
    return of("GpuCheckpoint", namespace, name, spec);
  }

  static GenericKubernetesResource restore(String namespace, String name) {
    return of("GpuRestore", namespace, name, Map.of("checkpointRef", Map.of("name", "train-1")));
  }

  static GenericKubernetesResource migration(String namespace, String name) {
    return of("GpuMigration", namespace, name, Map.of("podRef", Map.of("name", "trainer")));
  }

  static GenericKubernetesResource schedule(String namespace, String name) {
    return of(
        "GpuCheckpointSchedule",
        namespace,
        name,
        Map.of(
            "schedule", "0 * * * *", "selector", Map.of("matchLabels", Map.of("app", "trainer"))));
  }

  static GenericKubernetesResource policy(String name) {
    return of(
        "GpuPreemptionPolicy",
        null,
        name,
        Map.of("victims", Map.of("maxPriority", 100), "preemptors", Map.of("minPriority", 1000)));
  }

  static Pod pod(String namespace, String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName("default")
        .addNewContainer()
        .withName("main")
        .withImage("registry.test/main")
        .endContainer()
        .endSpec()
        .build();
  }

  private static GenericKubernetesResource of(
      String kind, @Nullable String namespace, String name, Map<String, Object> spec) {
    return new GenericKubernetesResourceBuilder()
        .withApiVersion(VERSION)
        .withKind(kind)
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .endMetadata()
        .addToAdditionalProperties("spec", spec)
        .build();
  }
}
