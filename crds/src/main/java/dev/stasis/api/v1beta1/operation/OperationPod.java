package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Pod of an operation. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OperationPod(
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Namespace of the pod.")
        String namespace,
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of the pod.")
        String name,
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription(
            "UID of the pod. A different pod with the same name is never touched.")
        String uid,
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("The container.")
        String containerName) {

  /** Returns the container of a pod. */
  public static OperationPod of(ObjectMeta pod, String containerName) {
    return new OperationPod(pod.getNamespace(), pod.getName(), pod.getUid(), containerName);
  }
}
