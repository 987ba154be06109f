package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workload that is frozen or suspended on the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FrozenWorkload(
    @Required @JsonPropertyDescription("Its pod.") ObjectReference pod,
    @JsonPropertyDescription("Its container.") @Nullable String container,
    @JsonPropertyDescription("Since when.") @Nullable Instant since,
    @JsonPropertyDescription("The object for which it was frozen.") @Nullable ObjectReference by,
    @JsonPropertyDescription("Frozen, Suspended or Unknown.") @Nullable String state,
    @JsonPropertyDescription("Uuids of the GPUs to which it will come back.")
        @Nullable List<String> gpus,
    @JsonPropertyDescription("Device memory that it will need, in bytes.")
        @Nullable Long gpuBytes) {}
