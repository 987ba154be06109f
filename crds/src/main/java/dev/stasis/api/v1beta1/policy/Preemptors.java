package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.LabelSelector;
import org.jspecify.annotations.Nullable;

/** Pending pods that may preempt others. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Preemptors(
    @JsonPropertyDescription("Labels of the pods. Default: any pod with GPUs.")
        @Nullable LabelSelector selector,
    @JsonPropertyDescription("Labels of their namespaces. Default: every namespace.")
        @Nullable LabelSelector namespaceSelector,
    @Required
        @JsonPropertyDescription(
            "Lowest priority of a preemptor. Must be higher than victims.maxPriority.")
        Integer minPriority) {}
