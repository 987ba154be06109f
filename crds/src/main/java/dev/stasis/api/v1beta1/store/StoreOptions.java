package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.Names;
import dev.stasis.api.v1beta1.common.StoreDurability;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Options of a GpuCheckpointStore that few users need. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class StoreOptions {
  @Immutable
  @Pattern(Names.ABSOLUTE_PATH)
  @Size(min = 2, max = 256)
  @JsonPropertyDescription(
      "Directory on the disk of each node, for artifacts before their upload and after their "
          + "download. Default: /var/lib/stasis/stores/NAME.")
  private @Nullable String localPath;

  @JsonPropertyDescription(
      "Space on the disk of each node for copies of artifacts that are in the remote store, such "
          + "as 200Gi; the least recently used ones are deleted. 0 keeps none. Default: 10% of the "
          + "file system.")
  private @Nullable Quantity localCopies;

  @JsonPropertyDescription(
      "Where an artifact has to be before its pod is evicted and older checkpoints are deleted: "
          + "in the remote store (Remote), or on the disk of its node (Local). Default: Remote.")
  private @Nullable StoreDurability durability;

  @JsonPropertyDescription(
      "Space to keep free on the file system, such as 50Gi. A checkpoint that would leave "
          + "less is refused before the freeze. Default: 20% of a node's disk, 10% of a shared "
          + "file system.")
  private @Nullable Quantity minFree;

  @JsonPropertyDescription(
      "Artifacts that may be imported. Default: those made in the same namespace with "
          + "the same UID.")
  private @Nullable ImportPolicy imports;

  @Size(min = 20, max = 40)
  @JsonPropertyDescription(
      "Frees the data of a remote store that no artifact needs, if this was last done before"
          + " this time. Otherwise it is done once a day.")
  private @Nullable Instant collectAfter;

  public @Nullable String getLocalPath() {
    return localPath;
  }

  public void setLocalPath(@Nullable String localPath) {
    this.localPath = localPath;
  }

  public @Nullable Quantity getLocalCopies() {
    return localCopies;
  }

  public void setLocalCopies(@Nullable Quantity localCopies) {
    this.localCopies = localCopies;
  }

  /** Returns the space for copies on a node in bytes; null for the default. */
  public @Nullable Long localCopiesBytes() {
    return ByteQuantity.bytes(localCopies);
  }

  public @Nullable StoreDurability getDurability() {
    return durability;
  }

  public void setDurability(@Nullable StoreDurability durability) {
    this.durability = durability;
  }

  public @Nullable Quantity getMinFree() {
    return minFree;
  }

  public void setMinFree(@Nullable Quantity minFree) {
    this.minFree = minFree;
  }

  /** Returns the space to keep free in bytes; null for the default. */
  public @Nullable Long minFreeBytes() {
    return ByteQuantity.bytes(minFree);
  }

  public @Nullable ImportPolicy getImports() {
    return imports;
  }

  public void setImports(@Nullable ImportPolicy imports) {
    this.imports = imports;
  }

  public @Nullable Instant getCollectAfter() {
    return collectAfter;
  }

  public void setCollectAfter(@Nullable Instant collectAfter) {
    this.collectAfter = collectAfter;
  }
}
