package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A folder that every node has mounted at the same path, such as NFS. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SharedPath(
    @Required
        @Pattern(Names.ABSOLUTE_PATH)
        @Size(min = 2, max = 256)
        @JsonPropertyDescription("Absolute path on the nodes.")
        String path) {}
