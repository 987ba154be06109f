package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is done before and after a freeze, in order. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Hooks(
    @Size(max = 8) @JsonPropertyDescription("Run before anything is frozen.")
        @Nullable List<Hook> before,
    @Size(max = 8)
        @JsonPropertyDescription(
            "Run once the workload goes on: of a suspended one when it is resumed; not when it is "
                + "evicted. After an agent was started anew they may run twice.")
        @Nullable List<Hook> after) {}
