package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * Encryption of what a remote store contains, by AES-256-GCM, with keys that either a Secret or a
 * KMS plugin wraps.
 */
@ValidationRule(
    value = "has(self.secretName) == has(self.key) && has(self.secretName) != has(self.kms)",
    message = "expected either secretName and key, or kms")
@ValidationRule(
    value = "has(self.kms) == has(oldSelf.kms)",
    message = "cannot change between a Secret and kms; create another store")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Encryption(
    @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of a Secret in the namespace of the operator. Each of its entries is a key of "
                + "32 bytes, or the base64 form of one.")
        @Nullable String secretName,
    @Pattern("^[A-Za-z0-9][A-Za-z0-9._-]*$")
        @Size(min = 1, max = 128)
        @JsonPropertyDescription(
            "Entry of the Secret that is used for encryption. The other entries are only used to"
                + " read what "
                + "they have encrypted.")
        @Nullable String key,
    @JsonPropertyDescription(
            "A KMS plugin on each node, as the API server uses for its own encryption at rest. It "
                + "wraps the keys of the store; the keys of the KMS never leave it.")
        @Nullable Kms kms) {}
