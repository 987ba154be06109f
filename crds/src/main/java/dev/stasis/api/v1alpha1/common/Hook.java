package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * One thing to do before or after a freeze: a command in the container, or a request to the pod.
 */
@ValidationRule(
    value = "has(self.exec) != has(self.http)",
    message = "wanted exactly one of exec and http")
@ValidationRule(
    value = "!has(self.timeout) || duration(self.timeout) <= duration('5m')",
    message = "timeout: expected at most 5m")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Hook(
    @JsonPropertyDescription("Command to run in the container.") @Nullable ExecAction exec,
    @JsonPropertyDescription("Request to send to the pod.") @Nullable HttpAction http,
    @SchemaFrom(type = String.class)
        @Pattern(TimeSpan.PATTERN)
        @Size(min = 2, max = 16)
        @JsonPropertyDescription(
            "Longest time that the hook may take, as 30s or 5m, at most 5m. Default: 10s.")
        @Nullable TimeSpan timeout,
    @JsonPropertyDescription(
            "What it means when the hook fails: a status other than 0, an answer other than "
                + "2xx, or no answer in time. Default: Fail.")
        @Nullable OnHookFailure onFailure) {}
