package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Usage of a store by a namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NamespaceUsage(
    @Required @JsonPropertyDescription("The namespace.") String namespace,
    @JsonPropertyDescription(
            "Bytes that count against its quota: of its artifacts, or of what a remote store holds "
                + "for it.")
        @Nullable Long bytes,
    @JsonPropertyDescription("Human-readable size.") @Nullable String size,
    @JsonPropertyDescription("Number of the namespace's artifacts.") @Nullable Integer artifacts,
    @JsonPropertyDescription("Size of the namespace's artifacts before compression, in bytes.")
        @Nullable Long logicalBytes,
    @JsonPropertyDescription(
            "Bytes that the remote store held for it at measuredTime, including deleted"
                + " artifacts that have not been freed yet.")
        @Nullable Long storedBytes) {

  /** Creates the usage of a store without an upload. */
  public NamespaceUsage(
      String namespace, @Nullable Long bytes, @Nullable String size, @Nullable Integer artifacts) {
    this(namespace, bytes, size, artifacts, bytes, null);
  }
}
