package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A KMS plugin on each node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Kms(
    @Required
        @Pattern("^unix://(/[A-Za-z0-9_-][A-Za-z0-9._-]*){3,}$")
        @Size(min = 13, max = 114)
        @JsonPropertyDescription(
            "Unix socket on each node of a plugin with Kubernetes' KMS v2 API, in a folder of its "
                + "own, such as unix:///var/run/kmsplugin/socket.sock. The chart gives the agents "
                + "the folder.")
        String endpoint,
    @Size(min = 1, max = 1024)
        @JsonPropertyDescription(
            "ID of the key that the plugin has to encrypt with (key_id in its Status). Default: any"
                + " key.")
        @Nullable String keyId) {

  private static final String SCHEME = "unix://";

  /** Returns the path of the socket. */
  public Path socket() {
    if (!endpoint.startsWith(SCHEME)) {
      throw new IllegalArgumentException(
          "encryption.kms.endpoint: expected %s and a path, got %s".formatted(SCHEME, endpoint));
    }
    return Path.of(endpoint.substring(SCHEME.length()));
  }
}
