package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A volume that a PersistentVolumeClaim in the namespace of the operator provides. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClaimVolume(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of a PersistentVolumeClaim in the namespace of the operator. With the access "
                + "mode ReadWriteMany all nodes use it, with ReadWriteOnce the node that mounts it.")
        String claimName) {}
