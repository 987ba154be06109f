package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The agent that claimed an operation. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Claim(
    @Required @JsonPropertyDescription("UID of the agent's pod, or an ID of the agent's own.")
        String agent,
    @JsonPropertyDescription("Boot ID of the node at the time of the claim.")
        @Nullable String bootId,
    @Required @JsonPropertyDescription("Time of the event.") Instant time) {}
