package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Usage of a store by a namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NamespaceUsage(
    @Required @JsonPropertyDescription("The namespace.") String namespace,
    @JsonPropertyDescription("Size of the namespace's artifacts, in bytes.") @Nullable Long bytes,
    @JsonPropertyDescription("Human-readable size.") @Nullable String size,
    @JsonPropertyDescription("Number of the namespace's artifacts.") @Nullable Integer artifacts) {}
