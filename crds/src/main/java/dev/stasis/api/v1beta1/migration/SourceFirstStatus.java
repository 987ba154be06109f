package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.TargetStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Status fields of a migration with strategy Recreate: the objects that it creates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public abstract class SourceFirstStatus extends TargetStatus {
  @JsonPropertyDescription("Name of the GpuCheckpoint of the source, with strategy Recreate.")
  private @Nullable String checkpoint;

  @JsonPropertyDescription(
      "Name of the GpuRestore that creates the target, with strategy Recreate.")
  private @Nullable String restore;

  @JsonPropertyDescription("Time at which the source was frozen, with strategy Recreate.")
  private @Nullable Instant frozenTime;

  public @Nullable String getCheckpoint() {
    return checkpoint;
  }

  public void setCheckpoint(@Nullable String checkpoint) {
    this.checkpoint = checkpoint;
  }

  public @Nullable String getRestore() {
    return restore;
  }

  public void setRestore(@Nullable String restore) {
    this.restore = restore;
  }

  public @Nullable Instant getFrozenTime() {
    return frozenTime;
  }

  public void setFrozenTime(@Nullable Instant frozenTime) {
    this.frozenTime = frozenTime;
  }
}
