package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Quotas of a store. A checkpoint that would exceed them is refused before the freeze. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quota(
    @JsonPropertyDescription("Total quota of all namespaces, such as 10Ti. Default: none.")
        @Nullable Quantity total,
    @JsonPropertyDescription("Quota of each namespace, such as 500Gi. Default: none.")
        @Nullable Quantity perNamespace,
    @Size(max = 256)
        @JsonPropertyDescription("Quotas of individual namespaces. They replace perNamespace.")
        @Nullable List<NamespaceQuota> namespaces) {

  /** Returns the total quota in bytes; null for none. */
  public @Nullable Long totalBytes() {
    return ByteQuantity.bytes(total);
  }

  /** Returns the quota of a namespace in bytes; null for none. */
  public @Nullable Long bytesOf(String namespace) {
    return ByteQuantity.bytes(
        Objects.requireNonNullElse(namespaces, List.<NamespaceQuota>of()).stream()
            .filter(single -> single.namespace().equals(namespace))
            .map(NamespaceQuota::limit)
            .findFirst()
            .orElse(perNamespace));
  }
}
