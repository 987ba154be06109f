package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** GpuCheckpoints that are Ready, as schedules leave them behind, in the API server only. */
record FinishedCheckpoints(KubernetesClient admin) {

  private static final String NAMESPACE = "finished";

  void namespace() {
    admin
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
  }

  void make(String name) {
    GpuCheckpoint one = sample();
    one.getMetadata().setNamespace(NAMESPACE);
    one.getMetadata().setName(name);
    var status = one.getStatus();
    GpuCheckpoint made = admin.resource(one).create();
    made.setStatus(status);
    admin.resource(made).updateStatus();
  }

  /** How much JSON one of them is, in bytes. */
  int bytes() {
    return admin.getKubernetesSerialization().asJson(sample()).length();
  }

  private GpuCheckpoint sample() {
    try (InputStream yaml =
        Objects.requireNonNull(
            FinishedCheckpoints.class.getResourceAsStream("/finished-checkpoint.yaml"))) {
      return admin.getKubernetesSerialization().unmarshal(yaml, GpuCheckpoint.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
