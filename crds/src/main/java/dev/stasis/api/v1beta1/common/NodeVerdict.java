package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether a node fits, and why not. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeVerdict(
    @Required @JsonPropertyDescription("The node.") String node,
    @Required @JsonPropertyDescription("Whether the workload could be restored on the node.")
        Boolean fits,
    @JsonPropertyDescription(
            "Reasons why the node does not fit, each with property, expected and actual value.")
        @Nullable List<String> reasons) {}
