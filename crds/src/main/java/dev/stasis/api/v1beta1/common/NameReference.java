package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Reference to an object of a known kind by its name. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NameReference(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Name of the object.")
        String name) {

  /** Returns a reference to the object with a name. */
  public static NameReference of(String name) {
    return new NameReference(name);
  }

  /** Returns a reference to the object with a name; null for null. */
  public static @Nullable NameReference ofNullable(@Nullable String name) {
    return name == null ? null : new NameReference(name);
  }

  /** Returns the name in a reference; null for null. */
  public static @Nullable String nameIn(@Nullable NameReference reference) {
    return reference == null ? null : reference.name();
  }
}
