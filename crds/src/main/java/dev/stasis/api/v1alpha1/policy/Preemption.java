package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One time that room was made. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Preemption(
    @Required @JsonPropertyDescription("When it was decided.") Instant time,
    @Required @JsonPropertyDescription("The pod for which room was made.")
        ObjectReference preemptor,
    @JsonPropertyDescription("The node.") @Nullable String node,
    @JsonPropertyDescription("The pods that yielded.") @Nullable List<ObjectReference> victims,
    @JsonPropertyDescription("What became of it, in one word.") @Nullable String reason,
    @JsonPropertyDescription("The decision in numbers.") @Nullable String message) {}
