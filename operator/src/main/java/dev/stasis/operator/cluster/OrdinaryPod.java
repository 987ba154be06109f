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
 * What is kept of a pod without a GPU: who it is, whose it is, and what it takes of its node. Who
 * needs more of such a pod reads it afresh, or has it kept here. It is for reading alone: written
 * back it would take from the pod what is not kept. What is written on pods are patches of fields
 * by name, so nothing is lost by this one having no JSON.
 */
@JsonSerialize(using = OrdinaryPod.Unwritten.class)
final class OrdinaryPod extends Pod {

  private static final long serialVersionUID = 1L;

  OrdinaryPod(Pod pod) {
    setMetadata(kept(pod.getMetadata()));
    setSpec(kept(pod.getSpec()));
    setStatus(kept(pod.getStatus()));
  }

  private static ObjectMeta kept(ObjectMeta of) {
    ObjectMeta kept = new ObjectMeta();
    kept.setNamespace(of.getNamespace());
    kept.setName(of.getName());
    kept.setUid(of.getUid());
    // By it the watch knows whether anything has changed.
    kept.setResourceVersion(of.getResourceVersion());
    kept.setCreationTimestamp(of.getCreationTimestamp());
    kept.setDeletionTimestamp(of.getDeletionTimestamp());
    // Selectors of schedules and policies; gangs.
    kept.setLabels(of.getLabels());
    kept.setOwnerReferences(of.getOwnerReferences());
    return kept;
  }

  private static PodSpec kept(PodSpec of) {
    PodSpec kept = new PodSpec();
    kept.setNodeName(of.getNodeName());
    // Which PriorityClasses are those of pods without a GPU.
    kept.setPriority(of.getPriority());
    kept.setPriorityClassName(of.getPriorityClassName());
    kept.setPreemptionPolicy(of.getPreemptionPolicy());
    // What is left of the node.
    kept.setOverhead(of.getOverhead());
    kept.setContainers(kept(of.getContainers()));
    kept.setInitContainers(kept(of.getInitContainers()));
    return kept;
  }

  private static List<Container> kept(@Nullable List<Container> of) {
    return of == null ? List.of() : of.stream().map(OrdinaryPod::kept).toList();
  }

  private static Container kept(Container of) {
    Container kept = new Container();
    kept.setName(of.getName());
    kept.setRestartPolicy(of.getRestartPolicy());
    kept.setPorts(
        Objects.requireNonNullElse(of.getPorts(), List.<ContainerPort>of()).stream()
            .filter(OrdinaryPod::isOfTheNode)
            .toList());
    if (of.getResources() != null) {
      // Requests alone count: the API server makes one of a limit that has none.
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

  /** Refuses. */
  static final class Unwritten extends JsonSerializer<OrdinaryPod> {

    @Override
    public void serialize(OrdinaryPod pod, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      throw JsonMappingException.from(
          json,
          "pod %s/%s: wanted all of it to write, found what is kept of it"
              .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()));
    }
  }
}
