package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Options of a GpuCheckpointSchedule that few users need. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class ScheduleOptions {
  @Default("Forbid")
  @JsonPropertyDescription(
      "What to do if the previous run of the pod is still active. Default: Forbid.")
  private ConcurrencyPolicy concurrencyPolicy = ConcurrencyPolicy.FORBID;

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

  @Default("10")
  @Min(0)
  @Max(100)
  @JsonPropertyDescription(
      "Number of entries to keep in status.history. A run has one entry for each pod. Default: 10.")
  private Integer historyLimit = 10;

  @Pattern("^[A-Za-z][A-Za-z0-9_+/-]*$")
  @Size(min = 1, max = 64)
  @JsonPropertyDescription("Time zone of the schedule, such as Europe/Berlin. Default: UTC.")
  private @Nullable String timeZone;

  public ConcurrencyPolicy getConcurrencyPolicy() {
    return concurrencyPolicy;
  }

  public void setConcurrencyPolicy(ConcurrencyPolicy concurrencyPolicy) {
    this.concurrencyPolicy = concurrencyPolicy;
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

  public Integer getHistoryLimit() {
    return historyLimit;
  }

  public void setHistoryLimit(Integer historyLimit) {
    this.historyLimit = historyLimit;
  }

  public @Nullable String getTimeZone() {
    return timeZone;
  }

  public void setTimeZone(@Nullable String timeZone) {
    this.timeZone = timeZone;
  }
}
