package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** An artifact in a store. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ArtifactReference(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Name of the GpuCheckpointStore.")
        String store,
    @Required
        @Pattern(Names.PATH_BELOW)
        @Size(min = 1, max = 512)
        @JsonPropertyDescription("Path below the root of the store; no part of it is a dot or two.")
        String location,
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Namespace to which it belongs; no other restores it.")
        String namespace,
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Uid of the GpuCheckpoint to which it belongs.")
        String uid,
    @Pattern("^[0-9a-f]{64}$")
        @Size(min = 64, max = 64)
        @JsonPropertyDescription("Digest of its manifest; none while it is still to be written.")
        @Nullable String sha256) {}
