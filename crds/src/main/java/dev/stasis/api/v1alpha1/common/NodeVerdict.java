package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What stands against one node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeVerdict(
    @Required @JsonPropertyDescription("The node.") String node,
    @Required @JsonPropertyDescription("Whether the workload could come back there.") Boolean fits,
    @JsonPropertyDescription(
            "What stands against it, each a sentence with property, wanted and found value.")
        @Nullable List<String> reasons) {}
