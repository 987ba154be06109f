package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The content of a remote store, as this node last measured it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RemoteUsage(
    @Required @JsonPropertyDescription("Time of the measurement, by the store's clock.")
        Instant measuredTime,
    @JsonPropertyDescription("Size of its file system in bytes. Unset for a bucket.")
        @Nullable Long capacityBytes,
    @JsonPropertyDescription("Size of everything in the store, in bytes.") @Nullable Long bytes,
    @JsonPropertyDescription("The namespaces that use the most space; at most 500.")
        @Nullable List<StoredNamespace> namespaces) {}
