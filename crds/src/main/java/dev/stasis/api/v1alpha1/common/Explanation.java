package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a freeze would do, without doing it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Explanation(
    @JsonPropertyDescription("Every reason against it; none: it can be done.")
        @Nullable List<Fault> faults,
    @JsonPropertyDescription(
            "Every reason for which the workload could not be restored in another pod; none: it "
                + "could.")
        @Nullable List<Fault> notPortable,
    @JsonPropertyDescription("Expected size of the artifact, in bytes.")
        @Nullable Long expectedBytes,
    @JsonPropertyDescription("The same, for people: 48.9Gi.") @Nullable String expectedSize,
    @JsonPropertyDescription("Expected time for which the workload stands still.")
        @Nullable Long expectedFrozenMilliseconds,
    @JsonPropertyDescription("The same, for people: 14.1s.") @Nullable String expectedFrozen,
    @JsonPropertyDescription("The way that the device memory would take.")
        @Nullable DataPath dataPath,
    @JsonPropertyDescription("Why that one.") @Nullable String dataPathReason) {}
