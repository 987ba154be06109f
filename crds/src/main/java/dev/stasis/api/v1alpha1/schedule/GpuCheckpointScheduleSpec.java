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

/** Which pods to checkpoint, when, and what to keep. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointScheduleSpec {
  @Required
  @JsonPropertyDescription(
      "Pods of the namespace that are checkpointed. An empty selector is all pods with " + "GPUs.")
  private LabelSelector selector;

  @Required
  @Pattern(Names.CRON)
  @Size(min = 1, max = 128)
  @JsonPropertyDescription(
      "When, in the form of cron: minute, hour, day of month, month, day of week; or "
          + "@hourly, @daily, @weekly, @monthly.")
  private String schedule;

  @Pattern("^[A-Za-z][A-Za-z0-9_+/-]*$")
  @Size(min = 1, max = 64)
  @JsonPropertyDescription("Time zone of the schedule, as Europe/Berlin. Default: UTC.")
  private @Nullable String timeZone;

  @Default("Forbid")
  @JsonPropertyDescription("What to do when the pod's last run is still at work. Default: Forbid.")
  private ConcurrencyPolicy concurrencyPolicy = ConcurrencyPolicy.FORBID;

  @Default("false")
  @JsonPropertyDescription(
      "No further runs, as long as it is true. Restores on failure go on. Default: " + "false.")
  private Boolean suspend = false;

  @Min(1)
  @JsonPropertyDescription(
      "How late a run may begin, in seconds; then it is skipped. Default: any time "
          + "before the next one.")
  private @Nullable Long startingDeadlineSeconds;

  @Default("0s")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) <= duration('24h')",
      message = "jitter: wanted at most 24h")
  @JsonPropertyDescription(
      "Runs of several pods are spread over this time, as 90s or 10m. Default: 0s.")
  private TimeSpan jitter = TimeSpan.of("0s");

  @JsonPropertyDescription("Which checkpoints are kept. Default: all.")
  private @Nullable Retention retention;

  @JsonPropertyDescription(
      "Brings a pod that failed back from its newest good checkpoint. Default: nothing "
          + "is brought back.")
  private @Nullable RestoreOnFailure restoreOnFailure;

  @Default("10")
  @Min(0)
  @Max(100)
  @JsonPropertyDescription("How many runs the status keeps. Default: 10.")
  private Integer historyLimit = 10;

  @JsonPropertyDescription(
      "How each checkpoint is taken. Default: as a GpuCheckpoint that says nothing " + "about it.")
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
