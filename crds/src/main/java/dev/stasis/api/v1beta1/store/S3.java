package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** A bucket of Amazon S3, or of another object storage with the same API. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record S3(
    @Pattern("^https?://[A-Za-z0-9.:\\[\\]-]+/?$")
        @Size(min = 8, max = 256)
        @JsonPropertyDescription(
            "URL of the server, such as https://minio.example.com:9000. Default: Amazon S3 in the "
                + "region.")
        @Nullable String endpoint,
    @Pattern("^[a-z0-9-]+$")
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Region of the bucket. Default: us-east-1.")
        @Nullable String region,
    @Required
        @Pattern(Names.BUCKET)
        @Size(min = 3, max = 63)
        @JsonPropertyDescription("Name of the bucket. It must exist.")
        String bucket,
    @Pattern("^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$")
        @Size(min = 1, max = 256)
        @JsonPropertyDescription("Prefix of all keys. Default: none.")
        @Nullable String prefix,
    @JsonPropertyDescription(
            "Names the bucket in the path of a URL and not in its host name, as MinIO requires. "
                + "Default: false.")
        @Nullable Boolean pathStyle,
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of a Secret in the namespace of the operator, with the keys AWS_ACCESS_KEY_ID "
                + "and AWS_SECRET_ACCESS_KEY, and optionally AWS_SESSION_TOKEN.")
        String credentialsSecretName,
    @Pattern("^(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s]+-----END CERTIFICATE-----\\s*)+$")
        @Size(min = 1, max = 65536)
        @JsonPropertyDescription(
            "Certificates in PEM format of the authorities that sign the server's certificate. "
                + "Default: those of the agent's image.")
        @Nullable String caBundle) {}
