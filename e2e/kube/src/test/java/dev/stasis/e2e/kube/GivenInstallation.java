package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Stasis as somebody installed it by the chart. The cluster's nodes have GPUs, real or simulated,
 * and the image that {@code STASIS_E2E_IMAGE} names.
 */
final class GivenInstallation implements Installation {

  private final KubernetesClient admin;
  private final String namespace;
  private final String image;
  private final Shell shell = new Shell();

  private GivenInstallation(KubernetesClient admin, String namespace, String image) {
    this.admin = admin;
    this.namespace = namespace;
    this.image = image;
  }

  static GivenInstallation find(KubernetesClient admin, Map<String, String> environment) {
    String image = environment.get("STASIS_E2E_IMAGE");
    if (image == null) {
      throw new IllegalStateException(
          "STASIS_E2E_IMAGE: expected an image with /bin/gpu-counter and busybox, got none");
    }
    return new GivenInstallation(
        admin, environment.getOrDefault("STASIS_NAMESPACE", "stasis-system"), image);
  }

  @Override
  public String namespace() {
    return namespace;
  }

  @Override
  public List<String> nodes() {
    return admin.resources(GpuNode.class).list().getItems().stream()
        .map(node -> node.getMetadata().getName())
        .sorted()
        .toList();
  }

  @Override
  public String workloadImage() {
    return image;
  }

  @Override
  public Component operator() {
    return PodComponent.operator(shell, namespace);
  }

  @Override
  public Component agent(String node) {
    return PodComponent.agent(shell, namespace, node);
  }

  @Override
  public boolean simulated() {
    return false;
  }

  @Override
  public void fault(String node, String call, String what) {
    throw new UnsupportedOperationException("only a simulated GPU does what it is told");
  }

  @Override
  public void clearFaults() {}

  @Override
  public void endQuarantine(String node) {
    throw new UnsupportedOperationException(
        "no scenario causes one on a GPU that is not simulated");
  }

  @Override
  public void keepLogs(Path folder) {
    shell.run("sh", "-c", "mkdir -p \"$1\"", "sh", folder.toString());
    String log = operator().log() + nodes().stream().map(node -> agent(node).log()).toList();
    shell.feed(log, "sh", "-c", "cat >\"$1/components.log\"", "sh", folder.toString());
  }

  @Override
  public void close() {}
}
