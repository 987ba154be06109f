package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** What a namespace takes in a remote store. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StoredNamespace(
    @Required @JsonPropertyDescription("UID of the namespace.") String uid,
    @JsonPropertyDescription("Size of everything that is stored for it, in bytes.")
        @Nullable Long bytes) {}
