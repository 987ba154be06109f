package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Hardware and driver of a workload. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Hardware(
    @JsonPropertyDescription("Version of the GPU driver.") @Nullable String driver,
    @JsonPropertyDescription("The GPUs, in the order in which the container sees them.")
        @Nullable List<ObservedGpu> gpus,
    @JsonPropertyDescription(
            "Links between the GPUs: None, NV18, or one entry per pair, such as 0-1=NV18 "
                + "0-2=SYS 1-2=SYS.")
        @Nullable String interconnect,
    @JsonPropertyDescription("Requirements that a target must meet, one property per line.")
        @Nullable String fingerprint,
    @JsonPropertyDescription(
            "Short hash of the GPU properties in the fingerprint, as in the node label "
                + "topology.stasis.dev/gpus-N.")
        @Nullable String topologyHash) {}
