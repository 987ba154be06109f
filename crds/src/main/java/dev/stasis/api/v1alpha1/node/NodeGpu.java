package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** One GPU of the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeGpu(
    @Required @JsonPropertyDescription("Uuid, as the driver gives it.") String uuid,
    @JsonPropertyDescription("Index, as the driver gives it.") @Nullable Integer index,
    @JsonPropertyDescription("Product name.") @Nullable String model,
    @JsonPropertyDescription("Memory in bytes.") @Nullable Long memoryBytes,
    @JsonPropertyDescription("The same, for people: 140.4Gi.") @Nullable String memory,
    @JsonPropertyDescription("PCI bus id: 0000:18:00.0.") @Nullable String pciBusId,
    @JsonPropertyDescription("Compute capability: 9.0.") @Nullable String computeCapability,
    @JsonPropertyDescription("Whether it is cut into instances.") @Nullable Boolean mig,
    @JsonPropertyDescription("NUMA node at which it is.") @Nullable Integer numaNode,
    @JsonPropertyDescription(
            "Fenced: nothing new is started on it, since the state of a workload on it is "
                + "unknown.")
        @Nullable Boolean quarantined,
    @JsonPropertyDescription("Why.") @Nullable String quarantineReason) {}
