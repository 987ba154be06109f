package dev.stasis.api.v1alpha1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * Which checkpoints are kept, of each pod. The newest good one and those in use stay in any case.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Retention(
    @Min(1) @Max(1000) @JsonPropertyDescription("How many, the newest first. Default: all.")
        @Nullable Integer keepLast,
    @SchemaFrom(type = String.class)
        @Pattern(TimeSpan.PATTERN)
        @Size(min = 2, max = 16)
        @ValidationRule(
            value = "duration(self) >= duration('1m')",
            message = "maxAge: wanted at least 1m")
        @JsonPropertyDescription("Age after which one is deleted, as 10m or 168h. Default: none.")
        @Nullable TimeSpan maxAge,
    @Min(1)
        @JsonPropertyDescription(
            "Size of all of them together, in bytes, beyond which the oldest is deleted. "
                + "Default: none.")
        @Nullable Long maxTotalBytes) {}
