package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the workload runs on. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Hardware(
    @JsonPropertyDescription("Version of the GPU driver.") @Nullable String driver,
    @JsonPropertyDescription("The GPUs, in the order in which the container sees them.")
        @Nullable List<ObservedGpu> gpus,
    @JsonPropertyDescription(
            "How the GPUs are linked: None, NV18, or each pair, 0-1=NV18 0-2=SYS 1-2=SYS.")
        @Nullable String interconnect,
    @JsonPropertyDescription(
            "Everything that a place must have where the workload can come back, one "
                + "property a line.")
        @Nullable String fingerprint,
    @JsonPropertyDescription(
            "Short hash of the GPU part of the fingerprint, as in the node label "
                + "topology.stasis.dev/gpus-N.")
        @Nullable String topologyHash) {}
