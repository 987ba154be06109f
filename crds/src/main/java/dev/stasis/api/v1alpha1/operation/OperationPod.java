package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** The pod on which an operation works. */
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
        @JsonPropertyDescription("Uid of the pod: another one of that name is never touched.")
        String uid,
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("The container.")
        String containerName) {}
