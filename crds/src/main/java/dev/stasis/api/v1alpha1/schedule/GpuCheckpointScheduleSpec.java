package dev.stasis.api.v1alpha1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.CheckpointTemplate;
import dev.stasis.api.v1alpha1.common.Names;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
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

  @Default("Forbid")
  @JsonPropertyDescription(
      "What to do if the previous run of the pod is still active. Default: Forbid.")
  private ConcurrencyPolicy concurrencyPolicy = ConcurrencyPolicy.FORBID;

  @Default("false")
  @JsonPropertyDescription("Pauses the schedule. Restores on failure continue. Default: false.")
  private Boolean suspend = false;

  @Min(1)
  @JsonPropertyDescription(
      "Seconds after which a run that has not started is skipped. Default: until the "
          + "next run.")
  private @Nullable Long startingDeadlineSeconds;

  @Default("1m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) <= duration('24h')",
      message = "jitter: must be at most 24h")
  @JsonPropertyDescription(
      "Spreads the runs of several pods over this time, such as 90s or 10m. Default: 1m.")
  private TimeSpan jitter = TimeSpan.of("1m");

  @JsonPropertyDescription("Checkpoints to keep. Default: all.")
  private @Nullable Retention retention;

  @JsonPropertyDescription(
      "Restores a failed pod from its newest good checkpoint. Default: failed pods are "
          + "not restored.")
  private @Nullable RestoreOnFailure restoreOnFailure;

  @Default("10")
  @Min(0)
  @Max(100)
  @JsonPropertyDescription("Number of runs to keep in the status. Default: 10.")
  private Integer historyLimit = 10;

  @JsonPropertyDescription("Options of the checkpoints. Default: the defaults of GpuCheckpoint.")
  private @Nullable CheckpointTemplate checkpoint;

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

  public ConcurrencyPolicy getConcurrencyPolicy() {
    return concurrencyPolicy;
  }

  public void setConcurrencyPolicy(ConcurrencyPolicy concurrencyPolicy) {
    this.concurrencyPolicy = concurrencyPolicy;
  }

  public Boolean getSuspend() {
    return suspend;
  }

  public void setSuspend(Boolean suspend) {
    this.suspend = suspend;
  }

  public @Nullable Long getStartingDeadlineSeconds() {
    return startingDeadlineSeconds;
  }

  public void setStartingDeadlineSeconds(@Nullable Long startingDeadlineSeconds) {
    this.startingDeadlineSeconds = startingDeadlineSeconds;
  }

  public TimeSpan getJitter() {
    return jitter;
  }

  public void setJitter(TimeSpan jitter) {
    this.jitter = jitter;
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

  public Integer getHistoryLimit() {
    return historyLimit;
  }

  public void setHistoryLimit(Integer historyLimit) {
    this.historyLimit = historyLimit;
  }

  public @Nullable CheckpointTemplate getCheckpoint() {
    return checkpoint;
  }

  public void setCheckpoint(@Nullable CheckpointTemplate checkpoint) {
    this.checkpoint = checkpoint;
  }
}
