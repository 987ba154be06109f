package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Which artifacts of a store may be imported. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ImportPolicy(
    @JsonPropertyDescription(
            "Allows artifacts from a different namespace with the same name: from another "
                + "cluster, from a namespace that has since been deleted, or without a recorded "
                + "namespace UID. Default: false.")
        @Nullable Boolean anyNamespaceUid,
    @Pattern("^(-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\\s]+-----END PUBLIC KEY-----\\s*)+$")
        @Size(min = 1, max = 4096)
        @JsonPropertyDescription(
            "Public keys in PEM format (ECDSA P-256). An imported artifact must have a "
                + "manifest signed with one of them; the signature is in manifest.json.sig in the "
                + "artifact's directory. Default: no signature is required.")
        @Nullable String publicKeys) {

  /** Returns whether artifacts of any namespace UID may be imported. */
  public boolean allowsAnyNamespaceUid() {
    return Boolean.TRUE.equals(anyNamespaceUid);
  }
}
