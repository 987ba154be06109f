package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** An artifact in a store. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ArtifactReference(
    @Required
        @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Name of the GpuCheckpointStore.")
        String store,
    @Required
        @Pattern(Names.PATH_BELOW)
        @Size(min = 1, max = 512)
        @JsonPropertyDescription("Path below the root of the store, without '.' and '..'.")
        String location,
    @Required
        @Pattern(Names.LABEL)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription(
            "Namespace that owns the artifact. It cannot be restored in another one.")
        String namespace,
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("UID of the GpuCheckpoint that owns the artifact.")
        String uid,
    @Pattern("^[0-9a-f]{64}$")
        @Size(min = 64, max = 64)
        @JsonPropertyDescription(
            "SHA-256 digest of the manifest. Unset until the artifact is written.")
        @Nullable String sha256,
    @Size(min = 1, max = 64)
        @JsonPropertyDescription(
            "UID of the namespace, by which a remote store keeps namespaces apart. Set for Upload, "
                + "Download, Verify, RetainArtifact and DeleteArtifact.")
        @Nullable String namespaceUid) {

  /** Creates a reference to an artifact that is looked for on a node only. */
  public ArtifactReference(
      String store, String location, String namespace, String uid, @Nullable String sha256) {
    this(store, location, namespace, uid, sha256, null);
  }
}
