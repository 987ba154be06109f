package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;

/** Time at which an object entered a phase. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PhaseTime<P>(
    @Required @JsonPropertyDescription("The phase.") P phase,
    @Required @JsonPropertyDescription("Time at which the phase was entered.") Instant time) {}
