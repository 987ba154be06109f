package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A pod without a GPU in the cache: identity, owner, and the resources that it uses on its node. It
 * is read-only: an update would remove the other fields from the pod, so it cannot be serialized.
 * Pods are written by patches of single fields.
 */
@JsonSerialize(using = TrimmedPod.Unwritten.class)
final class TrimmedPod extends Pod {

  private static final long serialVersionUID = 1L;

  TrimmedPod(Pod pod) {
    setMetadata(kept(pod.getMetadata()));
    setSpec(kept(pod.getSpec()));
    setStatus(kept(pod.getStatus()));
  }

  private static ObjectMeta kept(ObjectMeta of) {
    ObjectMeta kept = new ObjectMeta();
    kept.setNamespace(of.getNamespace());
    kept.setName(of.getName());
    kept.setUid(of.getUid());
    // The informer compares it.
    kept.setResourceVersion(of.getResourceVersion());
    kept.setCreationTimestamp(of.getCreationTimestamp());
    kept.setDeletionTimestamp(of.getDeletionTimestamp());
    // For selectors of schedules and policies, and for gangs.
    kept.setLabels(of.getLabels());
    kept.setOwnerReferences(of.getOwnerReferences());
    return kept;
  }

  private static PodSpec kept(PodSpec of) {
    PodSpec kept = new PodSpec();
    kept.setNodeName(of.getNodeName());
    // Preemption policies distinguish PriorityClasses of GPU pods from others.
    kept.setPriority(of.getPriority());
    kept.setPriorityClassName(of.getPriorityClassName());
    kept.setPreemptionPolicy(of.getPreemptionPolicy());
    // For the free resources of the node.
    kept.setOverhead(of.getOverhead());
    kept.setContainers(kept(of.getContainers()));
    kept.setInitContainers(kept(of.getInitContainers()));
    return kept;
  }

  private static List<Container> kept(@Nullable List<Container> of) {
    return of == null ? List.of() : of.stream().map(TrimmedPod::kept).toList();
  }

  private static Container kept(Container of) {
    Container kept = new Container();
    kept.setName(of.getName());
    kept.setRestartPolicy(of.getRestartPolicy());
    kept.setPorts(
        Objects.requireNonNullElse(of.getPorts(), List.<ContainerPort>of()).stream()
            .filter(TrimmedPod::isOfTheNode)
            .toList());
    if (of.getResources() != null) {
      // Requests are sufficient: the API server derives them from limits.
      ResourceRequirements asked = new ResourceRequirements();
      asked.setRequests(of.getResources().getRequests());
      kept.setResources(asked);
    }
    return kept;
  }

  private static boolean isOfTheNode(ContainerPort port) {
    return port.getHostPort() != null && port.getHostPort() > 0;
  }

  private static @Nullable PodStatus kept(@Nullable PodStatus of) {
    if (of == null) {
      return null;
    }
    PodStatus kept = new PodStatus();
    kept.setPhase(of.getPhase());
    kept.setNominatedNodeName(of.getNominatedNodeName());
    return kept;
  }

  /** Refuses to serialize a trimmed pod. */
  static final class Unwritten extends JsonSerializer<TrimmedPod> {

    @Override
    public void serialize(TrimmedPod pod, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      throw JsonMappingException.from(
          json,
          "pod %s/%s: the cached copy is trimmed and cannot be written"
              .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()));
    }
  }
}
