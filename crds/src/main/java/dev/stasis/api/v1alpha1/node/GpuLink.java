package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** How two GPUs are linked. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuLink(
    @Required @JsonPropertyDescription("Uuid of the one.") String first,
    @Required @JsonPropertyDescription("Uuid of the other.") String second,
    @Required
        @JsonPropertyDescription(
            "NV18 for eighteen NVLinks, else PIX, PXB, PHB, NODE or SYS, as nvidia-smi topo "
                + "names them.")
        String link) {}
