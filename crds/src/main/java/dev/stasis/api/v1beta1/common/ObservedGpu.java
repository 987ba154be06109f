package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** One GPU of a workload. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ObservedGpu(
    @Required @JsonPropertyDescription("UUID, as reported by the driver.") String uuid,
    @JsonPropertyDescription("Product name.") @Nullable String model,
    @JsonPropertyDescription("Memory of the GPU in bytes.") @Nullable Long memoryBytes,
    @JsonPropertyDescription("Human-readable memory, such as 140.4Gi.") @Nullable String memory,
    @JsonPropertyDescription("PCI bus ID, such as 0000:18:00.0.") @Nullable String pciBusId,
    @JsonPropertyDescription("Compute capability, such as 9.0.")
        @Nullable String computeCapability) {}
