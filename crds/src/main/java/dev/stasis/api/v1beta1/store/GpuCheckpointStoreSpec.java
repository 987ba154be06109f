package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.Names;
import dev.stasis.api.v1beta1.common.StoreDurability;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuCheckpointStore. */
@ValidationRule(
    value =
        "[has(self.nodeLocal), has(self.sharedPath), has(self.persistentVolumeClaim), "
            + "has(self.s3)].filter(given, given).size() == 1",
    message = "expected exactly one of nodeLocal, sharedPath, persistentVolumeClaim and s3")
@ValidationRule(
    value =
        "has(self.nodeLocal) == has(oldSelf.nodeLocal) && (!has(self.nodeLocal) || "
            + "self.nodeLocal.path == oldSelf.nodeLocal.path)",
    message = "nodeLocal: cannot be changed, because existing artifacts would become unreachable",
    fieldPath = ".nodeLocal")
@ValidationRule(
    value =
        "has(self.sharedPath) == has(oldSelf.sharedPath) && (!has(self.sharedPath) || "
            + "self.sharedPath.path == oldSelf.sharedPath.path && "
            + "(has(self.sharedPath.layout) ? self.sharedPath.layout : 'Files') == "
            + "(has(oldSelf.sharedPath.layout) ? oldSelf.sharedPath.layout : 'Files'))",
    message = "sharedPath: cannot be changed, because existing artifacts would become unreachable",
    fieldPath = ".sharedPath")
@ValidationRule(
    value =
        "has(self.persistentVolumeClaim) == has(oldSelf.persistentVolumeClaim) && "
            + "(!has(self.persistentVolumeClaim) || self.persistentVolumeClaim.claimName == "
            + "oldSelf.persistentVolumeClaim.claimName)",
    message = "persistentVolumeClaim: cannot be changed, since artifacts would be out of reach",
    fieldPath = ".persistentVolumeClaim")
@ValidationRule(
    value =
        "has(self.s3) == has(oldSelf.s3) && (!has(self.s3) || "
            + "self.s3.bucket == oldSelf.s3.bucket && "
            + "has(self.s3.prefix) == has(oldSelf.s3.prefix) && "
            + "(!has(self.s3.prefix) || self.s3.prefix == oldSelf.s3.prefix))",
    message =
        "s3: bucket and prefix cannot be changed, because existing artifacts would become"
            + " unreachable",
    fieldPath = ".s3")
@ValidationRule(
    value =
        "has(self.s3) || has(self.persistentVolumeClaim) || "
            + "(has(self.sharedPath) && has(self.sharedPath.layout) && self.sharedPath.layout == 'Chunks') || !(has(self.localPath) || "
            + "has(self.localCopies) || has(self.durability) || has(self.encryption))",
    message =
        "localPath, localCopies, durability and encryption: allowed only with "
            + "persistentVolumeClaim, s3, or sharedPath.layout Chunks")
@ValidationRule(
    value = "has(self.encryption) == has(oldSelf.encryption)",
    message = "encryption: cannot be added or removed; create another store",
    fieldPath = ".encryption")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreSpec {
  @JsonPropertyDescription("A directory on the disk of each node.")
  private @Nullable NodeLocal nodeLocal;

  @JsonPropertyDescription("A directory on a file system that every node has mounted.")
  private @Nullable SharedPath sharedPath;

  @JsonPropertyDescription(
      "A volume that a PersistentVolumeClaim in the namespace of the operator provides. Agents "
          + "write to the disk of their node first and upload in the background.")
  private @Nullable ClaimVolume persistentVolumeClaim;

  @JsonPropertyDescription(
      "A bucket of Amazon S3, or of another object storage with the same API. Agents write to "
          + "the disk of their node first and upload in the background.")
  private @Nullable S3 s3;

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

  @JsonPropertyDescription("Encryption of the remote store. Default: none.")
  private @Nullable Encryption encryption;

  @Default("false")
  @JsonProperty("default")
  @JsonPropertyDescription(
      "Whether the store is used when no store is named. At most one store may be the "
          + "default. Default: false.")
  private Boolean isDefault = false;

  @JsonPropertyDescription("Namespaces that may use the store. Default: all.")
  private @Nullable AllowedNamespaces allowedNamespaces;

  @JsonPropertyDescription("Quotas of the store. Default: limited only by its file system.")
  private @Nullable Quota quota;

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

  public @Nullable NodeLocal getNodeLocal() {
    return nodeLocal;
  }

  public void setNodeLocal(@Nullable NodeLocal nodeLocal) {
    this.nodeLocal = nodeLocal;
  }

  public @Nullable SharedPath getSharedPath() {
    return sharedPath;
  }

  public void setSharedPath(@Nullable SharedPath sharedPath) {
    this.sharedPath = sharedPath;
  }

  public @Nullable ClaimVolume getPersistentVolumeClaim() {
    return persistentVolumeClaim;
  }

  public void setPersistentVolumeClaim(@Nullable ClaimVolume persistentVolumeClaim) {
    this.persistentVolumeClaim = persistentVolumeClaim;
  }

  public @Nullable S3 getS3() {
    return s3;
  }

  public void setS3(@Nullable S3 s3) {
    this.s3 = s3;
  }

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

  public @Nullable Encryption getEncryption() {
    return encryption;
  }

  public void setEncryption(@Nullable Encryption encryption) {
    this.encryption = encryption;
  }

  /** Returns whether agents commit an artifact on the disk of their node and upload it then. */
  public boolean uploads() {
    return s3 != null
        || persistentVolumeClaim != null
        || (sharedPath != null && sharedPath.layout() == Layout.CHUNKS);
  }

  /** Returns what has to be reached before the workload of an artifact may go. */
  public StoreDurability promises() {
    return uploads() && durability != StoreDurability.LOCAL
        ? StoreDurability.REMOTE
        : StoreDurability.LOCAL;
  }

  /**
   * Returns the directory on a node in which agents commit artifacts; it is shared by the nodes if
   * it is that of a shared directory with the layout Files.
   *
   * @param name name of the store
   */
  public String folder(String name) {
    if (nodeLocal != null) {
      return nodeLocal.path();
    }
    if (uploads()) {
      return localPath == null ? "/var/lib/stasis/stores/" + name : localPath;
    }
    return Objects.requireNonNull(sharedPath, "the schema requires a storage location").path();
  }

  /** Returns whether the nodes see each other's artifacts in {@link #folder}. */
  public boolean sharesFolder() {
    return nodeLocal == null && !uploads();
  }

  public Boolean getIsDefault() {
    return isDefault;
  }

  public void setIsDefault(Boolean isDefault) {
    this.isDefault = isDefault;
  }

  public @Nullable AllowedNamespaces getAllowedNamespaces() {
    return allowedNamespaces;
  }

  public void setAllowedNamespaces(@Nullable AllowedNamespaces allowedNamespaces) {
    this.allowedNamespaces = allowedNamespaces;
  }

  public @Nullable Quota getQuota() {
    return quota;
  }

  public void setQuota(@Nullable Quota quota) {
    this.quota = quota;
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
