package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ObjectReference;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A preemption. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Preemption(
    @Required @JsonPropertyDescription("Time of the decision.") Instant time,
    @Required @JsonPropertyDescription("The pod that preempted others.") ObjectReference preemptor,
    @JsonPropertyDescription("The node.") @Nullable String node,
    @JsonPropertyDescription("The preempted pods.") @Nullable List<ObjectReference> victims,
    @JsonPropertyDescription("Machine-readable result, in CamelCase.") @Nullable String reason,
    @JsonPropertyDescription("Details of the decision.") @Nullable String message) {}
