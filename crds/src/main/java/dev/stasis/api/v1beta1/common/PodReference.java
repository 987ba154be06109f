package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Reference to a pod in the same namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodReference(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription("Name of the pod.")
        String name,
    @Size(min = 1, max = 64)
        @JsonPropertyDescription(
            "UID of the pod. A different pod with the same name is refused. Default: not checked.")
        @Nullable String uid) {

  /** Returns a reference to any pod with a name. */
  public static PodReference of(String name) {
    return new PodReference(name, null);
  }
}
