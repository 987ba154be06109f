package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Where artifacts lie, and who may put them there. */
@ValidationRule(
    value =
        "[has(self.nodeLocal), has(self.sharedPath), has(self.s3)].filter(given, "
            + "given).size() == 1",
    message = "wanted exactly one of nodeLocal, sharedPath and s3")
@ValidationRule(
    value =
        "has(self.nodeLocal) == has(oldSelf.nodeLocal) && (!has(self.nodeLocal) || "
            + "self.nodeLocal.path == oldSelf.nodeLocal.path)",
    message = "nodeLocal: cannot be changed, since artifacts would be out of reach",
    fieldPath = ".nodeLocal")
@ValidationRule(
    value =
        "has(self.sharedPath) == has(oldSelf.sharedPath) && (!has(self.sharedPath) || "
            + "self.sharedPath.path == oldSelf.sharedPath.path)",
    message = "sharedPath: cannot be changed, since artifacts would be out of reach",
    fieldPath = ".sharedPath")
@ValidationRule(
    value =
        "has(self.s3) == has(oldSelf.s3) && (!has(self.s3) || (self.s3.bucket == "
            + "oldSelf.s3.bucket && has(self.s3.prefix) == has(oldSelf.s3.prefix) && "
            + "(!has(self.s3.prefix) || self.s3.prefix == oldSelf.s3.prefix)))",
    message =
        "s3.bucket and s3.prefix: cannot be changed, since artifacts would be out of " + "reach",
    fieldPath = ".s3")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreSpec {
  @JsonPropertyDescription("A folder on the disk of each node.")
  private @Nullable NodeLocal nodeLocal;

  @JsonPropertyDescription("A folder that every node has mounted.")
  private @Nullable SharedPath sharedPath;

  @JsonPropertyDescription("A bucket of an object store.")
  private @Nullable S3 s3;

  @Default("false")
  @JsonProperty("default")
  @JsonPropertyDescription(
      "Whether it is used where no store is named; by one store at most. Default: " + "false.")
  private Boolean isDefault = false;

  @JsonPropertyDescription("Namespaces that may use it. Default: all.")
  private @Nullable AllowedNamespaces allowedNamespaces;

  @JsonPropertyDescription(
      "How much it may hold. Default: as much as its file system has room for.")
  private @Nullable Quota quota;

  @Min(0)
  @JsonPropertyDescription(
      "Bytes of its file system that stay free: a checkpoint that would leave less is "
          + "refused before the freeze. Default: a fifth of the disk of a node, a tenth of a "
          + "shared file system.")
  private @Nullable Long minFreeBytes;

  @JsonPropertyDescription(
      "Which of its artifacts may be imported. Default: those that were made in the same "
          + "namespace, of the same uid.")
  private @Nullable ImportPolicy imports;

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

  public @Nullable S3 getS3() {
    return s3;
  }

  public void setS3(@Nullable S3 s3) {
    this.s3 = s3;
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

  public @Nullable Long getMinFreeBytes() {
    return minFreeBytes;
  }

  public void setMinFreeBytes(@Nullable Long minFreeBytes) {
    this.minFreeBytes = minFreeBytes;
  }

  public @Nullable ImportPolicy getImports() {
    return imports;
  }

  public void setImports(@Nullable ImportPolicy imports) {
    this.imports = imports;
  }
}
