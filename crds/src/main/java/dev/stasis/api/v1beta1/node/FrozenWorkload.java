package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ObjectReference;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workload that is frozen or suspended on the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FrozenWorkload(
    @Required @JsonPropertyDescription("Name of the pod.") ObjectReference pod,
    @JsonPropertyDescription("Name of the container.") @Nullable String container,
    @JsonPropertyDescription("Time at which it was frozen.") @Nullable Instant since,
    @JsonPropertyDescription("Object on whose behalf it was frozen.") @Nullable ObjectReference by,
    @JsonPropertyDescription("Frozen, Suspended or Unknown.") @Nullable String state,
    @JsonPropertyDescription("UUIDs of the GPUs that it will use again.")
        @Nullable List<String> gpus,
    @JsonPropertyDescription("Device memory that it will need again, in bytes.")
        @Nullable Long gpuBytes) {}
