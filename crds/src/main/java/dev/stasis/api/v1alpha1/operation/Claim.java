package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Who has the operation in hand. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Claim(
    @Required @JsonPropertyDescription("Uid of the agent's pod, or its own id.") String agent,
    @JsonPropertyDescription("Boot of the node at that time.") @Nullable String bootId,
    @Required @JsonPropertyDescription("When.") Instant time) {}
