package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Where a store keeps its artifacts. */
@ValidationRule(
    value =
        "[has(self.nodeLocal), has(self.sharedPath), has(self.persistentVolumeClaim), "
            + "has(self.s3)].filter(given, given).size() == 1",
    message =
        "location: expected exactly one of nodeLocal, sharedPath, persistentVolumeClaim and s3")
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
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StoreLocation(
    @JsonPropertyDescription("A directory on the disk of each node.") @Nullable NodeLocal nodeLocal,
    @JsonPropertyDescription("A directory on a file system that every node has mounted.")
        @Nullable SharedPath sharedPath,
    @JsonPropertyDescription(
            "A volume that a PersistentVolumeClaim in the namespace of the operator provides. "
                + "Agents write to the disk of their node first and upload in the background.")
        @Nullable ClaimVolume persistentVolumeClaim,
    @JsonPropertyDescription(
            "A bucket of Amazon S3, or of another object storage with the same API. Agents write "
                + "to the disk of their node first and upload in the background.")
        @Nullable S3 s3) {

  /** Creates the location of a store on the disk of each node. */
  public static StoreLocation of(NodeLocal nodeLocal) {
    return new StoreLocation(nodeLocal, null, null, null);
  }

  /** Creates the location of a store on a file system that every node has mounted. */
  public static StoreLocation of(SharedPath sharedPath) {
    return new StoreLocation(null, sharedPath, null, null);
  }

  /** Creates the location of a store on the volume of a claim. */
  public static StoreLocation of(ClaimVolume persistentVolumeClaim) {
    return new StoreLocation(null, null, persistentVolumeClaim, null);
  }

  /** Creates the location of a store in a bucket. */
  public static StoreLocation of(S3 s3) {
    return new StoreLocation(null, null, null, s3);
  }

  /** Returns whether agents commit an artifact on the disk of their node and upload it then. */
  boolean uploads() {
    return s3 != null
        || persistentVolumeClaim != null
        || (sharedPath != null && sharedPath.layout() == Layout.CHUNKS);
  }
}
