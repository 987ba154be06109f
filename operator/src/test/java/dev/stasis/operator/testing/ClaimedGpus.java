package dev.stasis.operator.testing;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * GPUs of dynamic resource allocation without a driver: the slices that a driver would publish, and
 * a device class. Claims are created and allocated by the cluster itself.
 */
public final class ClaimedGpus implements AutoCloseable {

  private static final String GROUP = "resource.k8s.io";

  private final KubernetesClient client;
  private final String namespace;
  private final String deviceClass;
  private final String driver;

  /**
   * An allocated claim.
   *
   * @param claim its name
   * @param pod name of the pod that owns it; null for a claim that a user created
   * @param node the pool of its device, which has the name of its node
   * @param device name of its device
   */
  public record Allocated(String claim, @Nullable String pod, String node, String device) {}

  public ClaimedGpus(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
    this.deviceClass = RealCluster.name("gpu", namespace);
    this.driver = deviceClass + ".example.com";
    create(
        """
        apiVersion: resource.k8s.io/v1
        kind: DeviceClass
        metadata: {name: %s}
        spec:
          selectors:
          - cel: {expression: 'device.driver == "%s"'}
        """
            .formatted(deviceClass, driver));
  }

  /** Publishes a node's only GPU. */
  public void publish(String node, String model) {
    create(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: %1$s-%2$s}
        spec:
          driver: %2$s
          nodeName: %1$s
          pool: {name: %1$s, generation: 1, resourceSliceCount: 1}
          devices:
          - name: gpu-0
            attributes:
              productName: {string: %3$s}
              uuid: {string: GPU-%1$s}
        """
            .formatted(node, driver, model));
  }

  /** Creates a template for claims of one GPU. */
  public void template(String name, String model) {
    create(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: %s, namespace: %s}
        spec:
          spec: %s
        """
            .formatted(name, namespace, spec(model)));
  }

  /** Creates a claim of one GPU. */
  public void claim(String name, String model) {
    create(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: %s, namespace: %s}
        spec: %s
        """
            .formatted(name, namespace, spec(model)));
  }

  private String spec(String model) {
    return """
    {devices: {requests: [{name: gpu, exactly: {deviceClassName: %s, selectors: [
      {cel: {expression: 'device.attributes["%s"].productName == "%s"'}}]}}]}}
    """
        .formatted(deviceClass, driver, model)
        .strip();
  }

  private void create(String yaml) {
    client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).create();
  }

  /** Returns the claims of the namespace that are allocated. */
  public List<Allocated> allocated() {
    return client
        .genericKubernetesResources(kind("ResourceClaim", "resourceclaims", true))
        .inNamespace(namespace)
        .list()
        .getItems()
        .stream()
        .filter(claim -> claim.get("status", "allocation", "devices", "results", 0) != null)
        .map(ClaimedGpus::allocated)
        .toList();
  }

  private static Allocated allocated(GenericKubernetesResource claim) {
    return new Allocated(
        claim.getMetadata().getName(),
        claim.getMetadata().getOwnerReferences().stream()
            .map(owner -> owner.getName())
            .findFirst()
            .orElse(null),
        claim.get("status", "allocation", "devices", "results", 0, "pool"),
        claim.get("status", "allocation", "devices", "results", 0, "device"));
  }

  private static ResourceDefinitionContext kind(String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(GROUP)
        .withVersion("v1")
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }

  @Override
  public void close() {
    client
        .genericKubernetesResources(kind("ResourceSlice", "resourceslices", false))
        .withField("spec.driver", driver)
        .delete();
    client
        .genericKubernetesResources(kind("DeviceClass", "deviceclasses", false))
        .withName(deviceClass)
        .delete();
  }
}
