package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
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

  @Default("false")
  @JsonPropertyDescription("Pauses the schedule. Restores on failure continue. Default: false.")
  private Boolean suspend = false;

  @JsonPropertyDescription(
      "Restores a failed pod from its newest good checkpoint. Default: failed pods are "
          + "not restored.")
  private @Nullable RestoreOnFailure restoreOnFailure;

  @JsonPropertyDescription(
      "Store, retention and options of the checkpoints. Default: the defaults of GpuCheckpoint, "
          + "and all checkpoints are kept.")
  private @Nullable ScheduledCheckpointTemplate checkpoint;

  @JsonPropertyDescription("Options that few users need.")
  private ScheduleOptions options = new ScheduleOptions();

  /** Returns which checkpoints to keep; null for all. */
  public @Nullable Retention retention() {
    return checkpoint == null ? null : checkpoint.getRetention();
  }

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

  public Boolean getSuspend() {
    return suspend;
  }

  public void setSuspend(Boolean suspend) {
    this.suspend = suspend;
  }

  public @Nullable RestoreOnFailure getRestoreOnFailure() {
    return restoreOnFailure;
  }

  public void setRestoreOnFailure(@Nullable RestoreOnFailure restoreOnFailure) {
    this.restoreOnFailure = restoreOnFailure;
  }

  public @Nullable ScheduledCheckpointTemplate getCheckpoint() {
    return checkpoint;
  }

  public void setCheckpoint(@Nullable ScheduledCheckpointTemplate checkpoint) {
    this.checkpoint = checkpoint;
  }

  public ScheduleOptions getOptions() {
    return options;
  }

  public void setOptions(ScheduleOptions options) {
    this.options = options;
  }
}
