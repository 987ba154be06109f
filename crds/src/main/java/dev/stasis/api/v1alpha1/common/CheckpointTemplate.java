package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Options of the checkpoints that a schedule or a policy creates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class CheckpointTemplate extends FreezeOptions {
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Container to checkpoint. Default: the only container with GPUs.")
  private @Nullable String containerName;

  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "Name of the GpuCheckpointStore to write to. Default: the store marked as default.")
  private @Nullable String store;

  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: must be between 10s and 168h")
  @JsonPropertyDescription(
      "Time limit of the whole request, such as 90s, 10m or 168h. After that it is "
          + "rolled back and the workload keeps running. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  public @Nullable String getContainerName() {
    return containerName;
  }

  public void setContainerName(@Nullable String containerName) {
    this.containerName = containerName;
  }

  public @Nullable String getStore() {
    return store;
  }

  public void setStore(@Nullable String store) {
    this.store = store;
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }
}
