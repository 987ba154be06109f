package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** State of a time-sliced workload. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuTurn(
    @JsonPropertyDescription(
            "Position in the queue: 0 runs now, 1 is next, and so on. Unset while "
                + "spec.desiredState is Suspended.")
        @Nullable Integer place,
    @JsonPropertyDescription(
            "The pod that runs now. Unset while no pod runs. For a pod of another namespace "
                + "only that fact is reported.")
        @Nullable String holder,
    @JsonPropertyDescription("Time since which the workload has been running or waiting.")
        @Nullable Instant since,
    @JsonPropertyDescription("Time at which the slice ends. Unset while no other workload waits.")
        @Nullable Instant until) {}
