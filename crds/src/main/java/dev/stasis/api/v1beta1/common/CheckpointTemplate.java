package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Store and options of the checkpoints that a schedule or a policy creates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class CheckpointTemplate {
  @JsonPropertyDescription("GpuCheckpointStore to write to. Default: the store marked as default.")
  private @Nullable NameReference storageRef;

  @JsonPropertyDescription("Options that few users need, as in a GpuCheckpoint.")
  private WorkOptions options = new WorkOptions();

  public @Nullable NameReference getStorageRef() {
    return storageRef;
  }

  public void setStorageRef(@Nullable NameReference storageRef) {
    this.storageRef = storageRef;
  }

  public WorkOptions getOptions() {
    return options;
  }

  public void setOptions(WorkOptions options) {
    this.options = options;
  }
}
