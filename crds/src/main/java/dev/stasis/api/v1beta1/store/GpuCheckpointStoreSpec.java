package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.StoreDurability;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuCheckpointStore. */
@ValidationRule(
    value =
        "has(self.location.s3) || has(self.location.persistentVolumeClaim) || "
            + "(has(self.location.sharedPath) && has(self.location.sharedPath.layout) && "
            + "self.location.sharedPath.layout == 'Chunks') || !(has(self.encryption) || "
            + "has(self.options) && (has(self.options.localPath) || "
            + "has(self.options.localCopies) || has(self.options.durability)))",
    message =
        "encryption, options.localPath, options.localCopies and options.durability: allowed only "
            + "with persistentVolumeClaim, s3, or sharedPath.layout Chunks")
@ValidationRule(
    value = "has(self.encryption) == has(oldSelf.encryption)",
    message = "encryption: cannot be added or removed; create another store",
    fieldPath = ".encryption")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreSpec {
  @Required
  @JsonPropertyDescription("Where artifacts are stored. Exactly one of its fields is set.")
  private StoreLocation location;

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

  @JsonPropertyDescription("Options that few users need.")
  private StoreOptions options = new StoreOptions();

  public StoreLocation getLocation() {
    return location;
  }

  public void setLocation(StoreLocation location) {
    this.location = location;
  }

  public @Nullable Encryption getEncryption() {
    return encryption;
  }

  public void setEncryption(@Nullable Encryption encryption) {
    this.encryption = encryption;
  }

  /** Returns whether agents commit an artifact on the disk of their node and upload it then. */
  public boolean uploads() {
    return location.uploads();
  }

  /** Returns what has to be reached before the workload of an artifact may go. */
  public StoreDurability promises() {
    return uploads() && options.getDurability() != StoreDurability.LOCAL
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
    if (location.nodeLocal() != null) {
      return location.nodeLocal().path();
    }
    if (uploads()) {
      return Objects.requireNonNullElse(options.getLocalPath(), "/var/lib/stasis/stores/" + name);
    }
    return Objects.requireNonNull(location.sharedPath(), "the schema requires a location").path();
  }

  /** Returns whether the nodes see each other's artifacts in {@link #folder}. */
  public boolean sharesFolder() {
    return location.nodeLocal() == null && !uploads();
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

  public StoreOptions getOptions() {
    return options;
  }

  public void setOptions(StoreOptions options) {
    this.options = options;
  }
}
