package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A restored process. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProcessProof(
    @Required @JsonPropertyDescription("Process ID inside the container.") Long pid,
    @JsonPropertyDescription("Name of the process.") @Nullable String command,
    @JsonPropertyDescription("State in /proc, such as R, S or D; never Z.") @Nullable String state,
    @JsonPropertyDescription(
            "State reported by the GPU driver, such as RUNNING. Unset for a process that does"
                + " not use a GPU.")
        @Nullable String driverState) {}
