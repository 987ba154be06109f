package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** One restored process. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProcessProof(
    @Required @JsonPropertyDescription("Pid inside the container.") Long pid,
    @JsonPropertyDescription("Its name.") @Nullable String command,
    @JsonPropertyDescription("State in /proc: R, S, D; never Z.") @Nullable String state,
    @JsonPropertyDescription(
            "State that the GPU driver gives: RUNNING; none for a process without GPU.")
        @Nullable String driverState) {}
