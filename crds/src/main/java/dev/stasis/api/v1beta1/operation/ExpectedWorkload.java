package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Expected content of an artifact. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExpectedWorkload(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of the pod in the artifact.")
        String podName,
    @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Name of the container in the artifact. Default: not checked.")
        @Nullable String containerName,
    @Size(min = 1, max = 64)
        @JsonPropertyDescription("UID of the namespace in which the artifact was created.")
        @Nullable String namespaceUid) {}
