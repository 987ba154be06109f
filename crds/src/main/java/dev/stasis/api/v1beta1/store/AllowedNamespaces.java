package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Namespaces that may use the store, by name and by label selector. */
@ValidationRule(
    value = "has(self.names) || has(self.selector)",
    message = "allowedNamespaces: must set names or selector")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AllowedNamespaces(
    @Size(max = 256) @JsonPropertyDescription("Names of namespaces.") @Nullable List<String> names,
    @JsonPropertyDescription("Labels of namespaces.") @Nullable LabelSelector selector) {}
