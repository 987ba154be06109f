package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How much the store may hold. A checkpoint that would not fit is refused before the freeze. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quota(
    @Min(0) @JsonPropertyDescription("Of all namespaces together, in bytes. Default: none.")
        @Nullable Long totalBytes,
    @Min(0) @JsonPropertyDescription("Of each namespace, in bytes. Default: none.")
        @Nullable Long perNamespaceBytes,
    @Size(max = 256)
        @JsonPropertyDescription("Of single namespaces, in place of perNamespaceBytes.")
        @Nullable List<NamespaceQuota> namespaces) {}
