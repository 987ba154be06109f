package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** The other end of a transfer. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Peer(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Node of the peer.")
        String nodeName,
    @Size(min = 1, max = 300)
        @JsonPropertyDescription("Address and port on which the peer listens. For the sender only.")
        @Nullable String address,
    @Required
        @Size(min = 1, max = 16384)
        @JsonPropertyDescription("Certificate of the peer in PEM format. No other is accepted.")
        String certificate) {}
