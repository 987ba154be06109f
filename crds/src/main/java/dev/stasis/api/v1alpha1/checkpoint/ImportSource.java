package dev.stasis.api.v1alpha1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** An artifact that lies in a store already: one that stayed there, or that was copied into it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ImportSource(
    @Required
        @Pattern(Names.ARTIFACT_LOCATION)
        @Size(min = 3, max = 192)
        @JsonPropertyDescription(
            "Its folder below the root of the store, as NAMESPACE/NAME; the namespace is that of "
                + "this object.")
        String location,
    @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription(
            "Node whose agent reads it. Wanted for a store on the disk of each node, where it is "
                + "the one on whose disk the artifact lies; default for a shared store: any that "
                + "reaches it.")
        @Nullable String nodeName,
    @Pattern("^[0-9a-f]{64}$")
        @Size(min = 64, max = 64)
        @JsonPropertyDescription(
            "Digest of its manifest, as status.artifact.sha256 had it: refuses every other "
                + "artifact.")
        @Nullable String sha256) {}
