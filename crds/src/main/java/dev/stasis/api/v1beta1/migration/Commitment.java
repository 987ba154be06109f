package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;

/** The point of no return. The first writer decides. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Commitment(
    @Required @JsonPropertyDescription("Which copy of the workload survives.") Decision decision,
    @Required @JsonPropertyDescription("Time of the decision.") Instant time,
    @Required
        @JsonPropertyDescription(
            "Component that decided: the operator, or the agent on the source node.")
        String by) {}
