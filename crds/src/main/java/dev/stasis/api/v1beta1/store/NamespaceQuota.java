package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;

/** Quota of a namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NamespaceQuota(
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("The namespace.")
        String namespace,
    @Required @JsonPropertyDescription("Quota of the namespace, such as 500Gi.") Quantity limit) {}
