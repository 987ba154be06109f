package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** A command or an HTTP request to run before or after a freeze. */
@ValidationRule(
    value = "has(self.exec) != has(self.http)",
    message = "must set exactly one of exec and http")
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
        @JsonPropertyDescription("Time limit of the hook, such as 30s, at most 5m. Default: 10s.")
        @Nullable TimeSpan timeout,
    @JsonPropertyDescription(
            "What to do if the hook fails: an exit code other than 0, a response other than "
                + "2xx, or a timeout. Default: Fail.")
        @Nullable OnHookFailure onFailure) {}
