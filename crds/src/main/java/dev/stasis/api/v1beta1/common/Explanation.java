package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Result of a dry run. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Explanation(
    @JsonPropertyDescription("All reasons that prevent the checkpoint. Empty if it is possible.")
        @Nullable List<Fault> faults,
    @JsonPropertyDescription(
            "Every reason why the workload could not be restored in another pod. Empty if it "
                + "could.")
        @Nullable List<Fault> notPortable,
    @JsonPropertyDescription("Expected size of the artifact, in bytes.")
        @Nullable Long expectedBytes,
    @JsonPropertyDescription("Human-readable size, such as 48.9Gi.") @Nullable String expectedSize,
    @JsonPropertyDescription("Expected freeze time in milliseconds.")
        @Nullable Long expectedFrozenMilliseconds,
    @JsonPropertyDescription("Human-readable freeze time, such as 14.1s.")
        @Nullable String expectedFrozen,
    @JsonPropertyDescription("Data path that would be used for device memory.")
        @Nullable DataPath dataPath,
    @JsonPropertyDescription("Why this data path was chosen.") @Nullable String dataPathReason) {}
