package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Which artifacts of a store may be imported. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ImportPolicy(
    @JsonPropertyDescription(
            "Whether an artifact may be imported that was made in another namespace of the same "
                + "name: in another cluster, in a namespace that was deleted since, or by an agent "
                + "that did not record the namespace's uid. Default: false.")
        @Nullable Boolean anyNamespaceUid,
    @Pattern("^(-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\\s]+-----END PUBLIC KEY-----\\s*)+$")
        @Size(min = 1, max = 4096)
        @JsonPropertyDescription(
            "Public keys in PEM, ECDSA on P-256. One of them must have signed the manifest of an "
                + "artifact that is imported. The signature is in manifest.json.sig beside it. "
                + "Default: no signature is required.")
        @Nullable String publicKeys) {

  /** Whether the namespace's name suffices. */
  public boolean allowsAnyNamespaceUid() {
    return Boolean.TRUE.equals(anyNamespaceUid);
  }
}
