package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Location and contents of an artifact. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class ArtifactStatus {
  @JsonPropertyDescription("Name of the GpuCheckpointStore.")
  private @Nullable String store;

  @JsonPropertyDescription(
      "Node whose disk holds the artifact. Unset if other nodes reach it: in a shared store, and "
          + "in a remote store once it is uploaded.")
  private @Nullable String node;

  @JsonPropertyDescription("Path below the root of the store.")
  private @Nullable String location;

  @JsonPropertyDescription("Size in bytes.")
  private @Nullable Long bytes;

  @JsonPropertyDescription("Human-readable size, such as 48.9Gi.")
  private @Nullable String size;

  @JsonPropertyDescription(
      "Where the artifact must be stored before the workload may be removed. Unset if the "
          + "store has no upload.")
  private @Nullable StoreDurability durability;

  @JsonPropertyDescription(
      "Size in the remote store after compression and deduplication, in bytes.")
  private @Nullable Long storedBytes;

  @JsonPropertyDescription(
      "Bytes that its upload added to the remote store. The remaining bytes were already present.")
  private @Nullable Long newBytes;

  @JsonPropertyDescription("Device memory in the artifact, in bytes.")
  private @Nullable Long gpuBytes;

  @JsonPropertyDescription(
      "SHA-256 digest of the manifest. The manifest contains the digests of all other files.")
  private @Nullable String sha256;

  @JsonPropertyDescription("Image of the workload. The target pod must use the same one.")
  private @Nullable String image;

  @JsonPropertyDescription(
      "UID of the object for which the artifact was created, if it was imported.")
  private @Nullable String uid;

  @Size(min = 1, max = 64)
  @JsonPropertyDescription(
      "UID of the namespace in which the artifact was created, if it was imported and its "
          + "manifest records it.")
  private @Nullable String namespaceUid;

  @JsonPropertyDescription(
      "Every reason why the artifact cannot be restored in another pod. Empty if it can.")
  private @Nullable List<Fault> notPortable;

  public @Nullable List<Fault> getNotPortable() {
    return notPortable;
  }

  public void setNotPortable(@Nullable List<Fault> notPortable) {
    this.notPortable = notPortable;
  }

  /**
   * Returns the reasons why the artifact cannot be restored in another pod with this policy for TCP
   * connections.
   */
  public List<Fault> obstacles(TcpConnections tcp) {
    return Objects.requireNonNullElse(notPortable, List.<Fault>of()).stream()
        .filter(
            fault ->
                tcp != TcpConnections.RESTORE || !Fault.SOCKET_ADDRESS.equals(fault.property()))
        .toList();
  }

  public @Nullable StoreDurability getDurability() {
    return durability;
  }

  public void setDurability(@Nullable StoreDurability durability) {
    this.durability = durability;
  }

  public @Nullable Long getStoredBytes() {
    return storedBytes;
  }

  public void setStoredBytes(@Nullable Long storedBytes) {
    this.storedBytes = storedBytes;
  }

  public @Nullable Long getNewBytes() {
    return newBytes;
  }

  public void setNewBytes(@Nullable Long newBytes) {
    this.newBytes = newBytes;
  }

  /** Returns whether the artifact is where its store promises to have it. */
  public boolean keepsPromise() {
    return durability != StoreDurability.REMOTE || node == null;
  }

  public @Nullable String getStore() {
    return store;
  }

  public void setStore(@Nullable String store) {
    this.store = store;
  }

  public @Nullable String getNode() {
    return node;
  }

  public void setNode(@Nullable String node) {
    this.node = node;
  }

  public @Nullable String getLocation() {
    return location;
  }

  public void setLocation(@Nullable String location) {
    this.location = location;
  }

  public @Nullable Long getBytes() {
    return bytes;
  }

  public void setBytes(@Nullable Long bytes) {
    this.bytes = bytes;
  }

  public @Nullable String getSize() {
    return size;
  }

  public void setSize(@Nullable String size) {
    this.size = size;
  }

  public @Nullable Long getGpuBytes() {
    return gpuBytes;
  }

  public void setGpuBytes(@Nullable Long gpuBytes) {
    this.gpuBytes = gpuBytes;
  }

  public @Nullable String getSha256() {
    return sha256;
  }

  public void setSha256(@Nullable String sha256) {
    this.sha256 = sha256;
  }

  public @Nullable String getUid() {
    return uid;
  }

  public void setUid(@Nullable String uid) {
    this.uid = uid;
  }

  public @Nullable String getNamespaceUid() {
    return namespaceUid;
  }

  public void setNamespaceUid(@Nullable String namespaceUid) {
    this.namespaceUid = namespaceUid;
  }

  public @Nullable String getImage() {
    return image;
  }

  public void setImage(@Nullable String image) {
    this.image = image;
  }
}
