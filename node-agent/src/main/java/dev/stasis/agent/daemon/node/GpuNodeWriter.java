package dev.stasis.agent.daemon.node;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.GpuNodeSpec;
import dev.stasis.api.v1alpha1.node.GpuNodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The node's GpuNode in the cluster. Written by nobody else, so there is nothing to merge. */
final class GpuNodeWriter {

  private final KubernetesClient client;
  private final String name;

  GpuNodeWriter(KubernetesClient client, String name) {
    this.client = client;
    this.name = name;
  }

  /** As it stands there. */
  Optional<GpuNode> read() {
    return Optional.ofNullable(resource().get());
  }

  /** Makes the object when it is not there, and writes its status. */
  GpuNode write(GpuNodeStatus status) {
    GpuNode node = read().orElseGet(this::make);
    node.setStatus(status);
    return client.resource(node).updateStatus();
  }

  private GpuNode make() {
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(name).build());
    node.setSpec(new GpuNodeSpec());
    return client.resource(node).create();
  }

  /** What of a status is worth a write by itself: not how time goes by, nor how a disk fills. */
  JsonNode worth(@Nullable GpuNodeStatus status) {
    KubernetesSerialization json = client.getKubernetesSerialization();
    JsonNode tree =
        json.convertValue(status == null ? new GpuNodeStatus() : status, JsonNode.class);
    if (tree.path("agent") instanceof ObjectNode agent) {
      agent.remove("heartbeatTime");
    }
    for (JsonNode store : tree.path("stores")) {
      if (store instanceof ObjectNode object) {
        object.remove(java.util.List.of("freeBytes", "free", "usedBytes"));
      }
    }
    return tree;
  }

  private Resource<GpuNode> resource() {
    return client.resources(GpuNode.class).withName(name);
  }
}
