package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Hooks before and after a freeze, run in order. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Hooks(
    @Size(max = 8) @JsonPropertyDescription("Hooks to run before the workload is frozen.")
        @Nullable List<Hook> before,
    @Size(max = 8)
        @JsonPropertyDescription(
            "Hooks to run after the workload is thawed or resumed. They are not run after an "
                + "eviction, and may run twice if the agent restarts.")
        @Nullable List<Hook> after) {}
