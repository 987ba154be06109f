package dev.stasis.api.v1alpha1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Where a workload stands among those that share its GPUs by turns. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuTurn(
    @JsonPropertyDescription(
            "0: it has its turn; 1: it is the next one; and so on. None: it takes no turn as long "
                + "as spec.suspend is true.")
        @Nullable Integer place,
    @JsonPropertyDescription(
            "The pod whose turn it is; none while nobody has it. Of another namespace only that.")
        @Nullable String holder,
    @JsonPropertyDescription("Since when it has its turn, or waits for it.")
        @Nullable Instant since,
    @JsonPropertyDescription("Until when the turn lasts; none while nobody waits for the next one.")
        @Nullable Instant until) {}
