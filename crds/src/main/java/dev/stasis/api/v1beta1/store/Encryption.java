package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** Encryption of what a remote store contains, by AES-256-GCM. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Encryption(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of a Secret in the namespace of the operator. Each of its entries is a key of "
                + "32 bytes, or the base64 form of one.")
        String secretName,
    @Required
        @Pattern("^[A-Za-z0-9][A-Za-z0-9._-]*$")
        @Size(min = 1, max = 128)
        @JsonPropertyDescription(
            "Entry of the Secret that is used for encryption. The other entries are only used to"
                + " read what "
                + "they have encrypted.")
        String key) {}
