package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One aspect of the state of an object. There is one condition of each type. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Condition(
    @Required
        @Pattern(Names.CONDITION_TYPE)
        @Size(min = 1, max = 316)
        @JsonPropertyDescription("Which aspect, in CamelCase.")
        String type,
    @Required
        @JsonPropertyDescription(
            "Whether it is so. Unknown while the work goes on; False only when that is final.")
        Truth status,
    @Required
        @Pattern(Names.WORD)
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Why, in one word of a closed list, in CamelCase.")
        String reason,
    @Required
        @Size(max = 32768)
        @JsonPropertyDescription("Why, in one sentence, with the values that count.")
        String message,
    @Required @JsonPropertyDescription("When the status last changed from one value to another.")
        Instant lastTransitionTime,
    @Min(0) @JsonPropertyDescription("The metadata.generation that the condition speaks of.")
        @Nullable Long observedGeneration) {}
