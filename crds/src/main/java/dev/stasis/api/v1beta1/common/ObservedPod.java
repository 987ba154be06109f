package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** An observed pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ObservedPod(
    @Required @JsonPropertyDescription("Name of the pod.") String name,
    @JsonPropertyDescription("UID of the pod.") @Nullable String uid,
    @JsonPropertyDescription("Name of the container with the GPUs.") @Nullable String container,
    @JsonPropertyDescription("Node of the pod.") @Nullable String node) {}
