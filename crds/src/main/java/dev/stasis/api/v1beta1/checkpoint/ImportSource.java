package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** An artifact that is already in a store: one that was retained or copied there. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ImportSource(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of the pod that is in the artifact.")
        String podName,
    @Required
        @Pattern(Names.ARTIFACT_LOCATION)
        @Size(min = 3, max = 192)
        @JsonPropertyDescription(
            "Path of the artifact below the root of the store, in the form NAMESPACE/NAME. "
                + "NAMESPACE must be the namespace of this object. In a remote store it is the "
                + "location in the status of the GpuCheckpoint that wrote it.")
        String location,
    @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription(
            "Node whose agent reads the artifact. Required for a nodeLocal store: the node "
                + "whose disk holds the artifact. Default for a shared or remote store: any node "
                + "that can reach it.")
        @Nullable String nodeName,
    @Pattern("^[0-9a-f]{64}$")
        @Size(min = 64, max = 64)
        @JsonPropertyDescription(
            "SHA-256 digest of the manifest, as in status.artifact.sha256. Any other artifact"
                + " is refused.")
        @Nullable String sha256) {}
