package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** Link between two GPUs. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuLink(
    @Required @JsonPropertyDescription("UUID of the first GPU.") String first,
    @Required @JsonPropertyDescription("UUID of the second GPU.") String second,
    @Required
        @JsonPropertyDescription(
            "Type of the link as in nvidia-smi topo: NV18 for eighteen NVLinks, otherwise "
                + "PIX, PXB, PHB, NODE or SYS.")
        String link) {}
