package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A store as seen by the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeStore(
    @Required @JsonPropertyDescription("Name of the GpuCheckpointStore.") String name,
    @JsonPropertyDescription("Whether the agent can write to it.") @Nullable Boolean writable,
    @JsonPropertyDescription("Why the store is not writable.") @Nullable String message,
    @JsonPropertyDescription("Size of its file system in bytes.") @Nullable Long totalBytes,
    @JsonPropertyDescription("Free bytes.") @Nullable Long freeBytes,
    @JsonPropertyDescription("Human-readable size.") @Nullable String free,
    @JsonPropertyDescription("Size of all artifacts on the node, in bytes.")
        @Nullable Long usedBytes,
    @JsonPropertyDescription("Number of artifacts on the node.") @Nullable Integer artifacts,
    @JsonPropertyDescription(
            "Whether the store shares the file system of the kubelet (nodefs). If that runs "
                + "full, the kubelet evicts pods.")
        @Nullable Boolean sharesNodefs,
    @JsonPropertyDescription(
            "Content of the remote part of the store. Unset unless this node measured it last.")
        @Nullable RemoteUsage remote,
    @JsonPropertyDescription(
            "Identity of the volume that the claim of the store has on this node, from the volume "
                + "itself.")
        @Nullable String volumeId) {

  /** Creates a store for which it is unknown whether it shares the kubelet's file system. */
  public NodeStore(
      String name,
      @Nullable Boolean writable,
      @Nullable String message,
      @Nullable Long totalBytes,
      @Nullable Long freeBytes,
      @Nullable String free,
      @Nullable Long usedBytes,
      @Nullable Integer artifacts) {
    this(
        name,
        writable,
        message,
        totalBytes,
        freeBytes,
        free,
        usedBytes,
        artifacts,
        null,
        null,
        null);
  }

  /** Returns a copy with the identity of its volume. */
  public NodeStore withVolumeId(@Nullable String id) {
    return new NodeStore(
        name,
        writable,
        message,
        totalBytes,
        freeBytes,
        free,
        usedBytes,
        artifacts,
        sharesNodefs,
        remote,
        id);
  }
}
