package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The volume of a store's claim. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VolumeStatus(
    @Pattern("^[0-9a-f]{32}$")
        @Size(min = 32, max = 32)
        @JsonPropertyDescription(
            "Identity of the volume, which an agent wrote into it. Agents use no other volume.")
        @Nullable String id,
    @JsonPropertyDescription("Name of the PersistentVolume.") @Nullable String name,
    @JsonPropertyDescription("Access modes of the claim.") @Nullable List<String> accessModes,
    @JsonPropertyDescription("Why nothing may be written to the claim. Unset if it can be used.")
        @Nullable String message) {

  /** Returns whether several nodes can have the volume mounted at once. */
  public boolean reachesAllNodes() {
    return accessModes != null && accessModes.contains("ReadWriteMany");
  }
}
