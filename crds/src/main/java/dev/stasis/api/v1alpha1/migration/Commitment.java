package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;

/** The point of no return: whoever writes it first has decided. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Commitment(
    @Required @JsonPropertyDescription("Which copy is the one.") Decision decision,
    @Required @JsonPropertyDescription("When it was decided.") Instant time,
    @Required @JsonPropertyDescription("Who decided: the operator, or the agent of the source.")
        String by) {}
