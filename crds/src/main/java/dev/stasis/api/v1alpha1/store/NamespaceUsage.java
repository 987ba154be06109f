package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** What one namespace uses. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NamespaceUsage(
    @Required @JsonPropertyDescription("The namespace.") String namespace,
    @JsonPropertyDescription("Bytes of its artifacts.") @Nullable Long bytes,
    @JsonPropertyDescription("The same, for people.") @Nullable String size,
    @JsonPropertyDescription("Number of its artifacts.") @Nullable Integer artifacts) {}
