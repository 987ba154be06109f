package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.LabelSelector;
import org.jspecify.annotations.Nullable;

/** Pods that may be preempted. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Victims(
    @JsonPropertyDescription("Labels of the pods. Default: any pod with GPUs.")
        @Nullable LabelSelector selector,
    @JsonPropertyDescription("Labels of their namespaces. Default: every namespace.")
        @Nullable LabelSelector namespaceSelector,
    @Required @JsonPropertyDescription("Highest priority of a victim.") Integer maxPriority) {}
