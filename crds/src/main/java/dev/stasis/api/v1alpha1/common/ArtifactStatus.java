package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where a checkpoint lies, and what it holds. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class ArtifactStatus {
  @JsonPropertyDescription("Name of the GpuCheckpointStore.")
  private @Nullable String store;

  @JsonPropertyDescription("Node whose disk holds it; none for a store that every node reaches.")
  private @Nullable String node;

  @JsonPropertyDescription("Path below the root of the store.")
  private @Nullable String location;

  @JsonPropertyDescription("Size in bytes.")
  private @Nullable Long bytes;

  @JsonPropertyDescription("The same, for people: 48.9Gi.")
  private @Nullable String size;

  @JsonPropertyDescription("Device memory in it, in bytes.")
  private @Nullable Long gpuBytes;

  @JsonPropertyDescription("Digest of the manifest, which holds the digests of everything else.")
  private @Nullable String sha256;

  @JsonPropertyDescription("Image of the workload, as a target pod has to name it.")
  private @Nullable String image;

  @JsonPropertyDescription(
      "Uid, in its manifest, of the object for which it was made, where that is not this one: it "
          + "was imported.")
  private @Nullable String uid;

  @Size(min = 1, max = 64)
  @JsonPropertyDescription(
      "Uid of the namespace in which it was made, where it was imported and its manifest has it.")
  private @Nullable String namespaceUid;

  @JsonPropertyDescription(
      "Every reason for which it cannot be restored in another pod; none: it can.")
  private @Nullable List<Fault> notPortable;

  public @Nullable List<Fault> getNotPortable() {
    return notPortable;
  }

  public void setNotPortable(@Nullable List<Fault> notPortable) {
    this.notPortable = notPortable;
  }

  /** What keeps it from a pod to which TCP connections are brought in that way. */
  public List<Fault> obstacles(Tcp tcp) {
    return Objects.requireNonNullElse(notPortable, List.<Fault>of()).stream()
        .filter(fault -> tcp != Tcp.KEEP || !Fault.SOCKET_ADDRESS.equals(fault.property()))
        .toList();
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
