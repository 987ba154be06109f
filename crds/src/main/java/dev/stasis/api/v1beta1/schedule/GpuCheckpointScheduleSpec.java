package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.CheckpointTemplate;
import dev.stasis.api.v1beta1.common.Names;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.LabelSelector;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuCheckpointSchedule. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointScheduleSpec {
  @Required
  @JsonPropertyDescription(
      "Pods to checkpoint, in the same namespace. An empty selector matches all pods "
          + "with GPUs.")
  private LabelSelector selector;

  @Required
  @Pattern(Names.CRON)
  @Size(min = 1, max = 128)
  @JsonPropertyDescription(
      "Schedule in cron format: minute, hour, day of month, month, day of week; or "
          + "@hourly, @daily, @weekly, @monthly.")
  private String schedule;

  @Pattern("^[A-Za-z][A-Za-z0-9_+/-]*$")
  @Size(min = 1, max = 64)
  @JsonPropertyDescription("Time zone of the schedule, such as Europe/Berlin. Default: UTC.")
  private @Nullable String timeZone;

  @Default("false")
  @JsonPropertyDescription("Pauses the schedule. Restores on failure continue. Default: false.")
  private Boolean suspend = false;

  @JsonPropertyDescription("Checkpoints to keep. Default: all.")
  private @Nullable Retention retention;

  @JsonPropertyDescription(
      "Restores a failed pod from its newest good checkpoint. Default: failed pods are "
          + "not restored.")
  private @Nullable RestoreOnFailure restoreOnFailure;

  @JsonPropertyDescription(
      "Store and options of the checkpoints. Default: the defaults of GpuCheckpoint.")
  private @Nullable CheckpointTemplate checkpoint;

  @JsonPropertyDescription("Options that few users need.")
  private ScheduleOptions options = new ScheduleOptions();

  public LabelSelector getSelector() {
    return selector;
  }

  public void setSelector(LabelSelector selector) {
    this.selector = selector;
  }

  public String getSchedule() {
    return schedule;
  }

  public void setSchedule(String schedule) {
    this.schedule = schedule;
  }

  public @Nullable String getTimeZone() {
    return timeZone;
  }

  public void setTimeZone(@Nullable String timeZone) {
    this.timeZone = timeZone;
  }

  public Boolean getSuspend() {
    return suspend;
  }

  public void setSuspend(Boolean suspend) {
    this.suspend = suspend;
  }

  public @Nullable Retention getRetention() {
    return retention;
  }

  public void setRetention(@Nullable Retention retention) {
    this.retention = retention;
  }

  public @Nullable RestoreOnFailure getRestoreOnFailure() {
    return restoreOnFailure;
  }

  public void setRestoreOnFailure(@Nullable RestoreOnFailure restoreOnFailure) {
    this.restoreOnFailure = restoreOnFailure;
  }

  public @Nullable CheckpointTemplate getCheckpoint() {
    return checkpoint;
  }

  public void setCheckpoint(@Nullable CheckpointTemplate checkpoint) {
    this.checkpoint = checkpoint;
  }

  public ScheduleOptions getOptions() {
    return options;
  }

  public void setOptions(ScheduleOptions options) {
    this.options = options;
  }
}
