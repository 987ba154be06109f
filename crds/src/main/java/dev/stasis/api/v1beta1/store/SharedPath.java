package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** A directory on a file system that every node has mounted at the same path, such as NFS. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SharedPath(
    @Required
        @Pattern(Names.ABSOLUTE_PATH)
        @Size(min = 2, max = 256)
        @JsonPropertyDescription("Absolute path on the nodes.")
        String path,
    @JsonPropertyDescription(
            "Files: each artifact is a directory, which agents write and read in place. Chunks: "
                + "artifacts are split into compressed chunks, equal chunks of a namespace are "
                + "stored once, and agents write to the disk of their node first and upload in "
                + "the background. Default: Files.")
        @Nullable Layout layout) {

  /** Creates a directory with the layout Files. */
  public SharedPath(String path) {
    this(path, null);
  }
}
