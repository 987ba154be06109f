package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A directory on the disk of each node. Fast; lost with the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeLocal(
    @Required
        @Pattern(Names.ABSOLUTE_PATH)
        @Size(min = 2, max = 256)
        @JsonPropertyDescription("Absolute path on the node.")
        String path) {}
