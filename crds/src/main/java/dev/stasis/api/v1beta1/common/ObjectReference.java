package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Reference to an object. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ObjectReference(
    @Required @Size(min = 1, max = 63) @JsonPropertyDescription("Kind of the object.") String kind,
    @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Namespace of the object. Unset for a cluster-scoped object.")
        @Nullable String namespace,
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of the object.")
        String name,
    @Required @Size(min = 1, max = 64) @JsonPropertyDescription("UID of the object.") String uid) {}
