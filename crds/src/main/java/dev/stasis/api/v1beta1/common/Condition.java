package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Condition of an object, as in metav1.Condition. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Condition(
    @Required
        @Pattern(Names.CONDITION_TYPE)
        @Size(min = 1, max = 316)
        @JsonPropertyDescription("Type of the condition, in CamelCase.")
        String type,
    @Required
        @JsonPropertyDescription(
            "True, False or Unknown. Ready and Succeeded are False while work is in progress, too:"
                + " Reconciling is True then, and Failed or Stalled when nothing more is tried.")
        ConditionValue status,
    @Required
        @Pattern(Names.WORD)
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Machine-readable reason, in CamelCase.")
        String reason,
    @Required
        @Size(max = 32768)
        @JsonPropertyDescription("Human-readable explanation, with the relevant values.")
        String message,
    @Required @JsonPropertyDescription("Time at which the status last changed.")
        Instant lastTransitionTime,
    @Min(0) @JsonPropertyDescription("The metadata.generation that the condition is based on.")
        @Nullable Long observedGeneration) {}
