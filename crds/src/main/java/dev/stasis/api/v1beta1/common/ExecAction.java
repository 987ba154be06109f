package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** Runs a command in the workload's container, like kubectl exec. */
@ValidationRule(
    value = "self.command.map(argument, argument.size()).sum() <= 8192",
    message = "command: expected at most 8192 characters in total")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExecAction(
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Command and arguments. It is not run in a shell.")
        List<String> command) {}
