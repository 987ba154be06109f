package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A GPU of the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeGpu(
    @Required @JsonPropertyDescription("UUID, as reported by the driver.") String uuid,
    @JsonPropertyDescription("Index, as reported by the driver.") @Nullable Integer index,
    @JsonPropertyDescription("Product name.") @Nullable String model,
    @JsonPropertyDescription("Memory in bytes.") @Nullable Long memoryBytes,
    @JsonPropertyDescription("Human-readable memory, such as 140.4Gi.") @Nullable String memory,
    @JsonPropertyDescription("PCI bus ID, such as 0000:18:00.0.") @Nullable String pciBusId,
    @JsonPropertyDescription("Compute capability, such as 9.0.") @Nullable String computeCapability,
    @JsonPropertyDescription("Whether the GPU is in MIG mode.") @Nullable Boolean mig,
    @JsonPropertyDescription("NUMA node of the GPU.") @Nullable Integer numaNode,
    @JsonPropertyDescription(
            "Whether the GPU is fenced. No new workload is started on it because the state of"
                + " one of its workloads is unknown.")
        @Nullable Boolean quarantined,
    @JsonPropertyDescription("Why the GPU is fenced.") @Nullable String quarantineReason) {}
