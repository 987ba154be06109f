package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a GpuCheckpointSchedule. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointScheduleStatus extends ConditionedStatus {
  @JsonPropertyDescription("Active runs.")
  private @Nullable List<ScheduledRun> active;

  @JsonPropertyDescription("Time at which the last run was due.")
  private @Nullable Instant lastScheduleTime;

  @JsonPropertyDescription("All runs due up to this time have started or were skipped.")
  private @Nullable Instant settledScheduleTime;

  @JsonPropertyDescription("Time at which a run last became Ready.")
  private @Nullable Instant lastSuccessfulTime;

  @JsonPropertyDescription("Time at which the next run is due, before jitter.")
  private @Nullable Instant nextScheduleTime;

  @JsonPropertyDescription("Number of pods that match the selector.")
  private @Nullable Integer matchedPods;

  @JsonPropertyDescription("Number of retained checkpoints.")
  private @Nullable Integer kept;

  @JsonPropertyDescription("Total size of the retained checkpoints, in bytes.")
  private @Nullable Long keptBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String keptSize;

  @JsonPropertyDescription("Newest GpuCheckpoint that could be restored.")
  private @Nullable String newestGood;

  @JsonPropertyDescription("Time at which the newest good checkpoint was taken.")
  private @Nullable Instant newestGoodTime;

  @JsonPropertyDescription("The last runs, newest first.")
  private @Nullable List<ScheduledRun> history;

  @JsonPropertyDescription("The last automatic restores, newest first.")
  private @Nullable List<AutomaticRestore> restores;

  public @Nullable List<ScheduledRun> getActive() {
    return active;
  }

  public void setActive(@Nullable List<ScheduledRun> active) {
    this.active = active;
  }

  public @Nullable Instant getLastScheduleTime() {
    return lastScheduleTime;
  }

  public void setLastScheduleTime(@Nullable Instant lastScheduleTime) {
    this.lastScheduleTime = lastScheduleTime;
  }

  public @Nullable Instant getSettledScheduleTime() {
    return settledScheduleTime;
  }

  public void setSettledScheduleTime(@Nullable Instant settledScheduleTime) {
    this.settledScheduleTime = settledScheduleTime;
  }

  public @Nullable Instant getLastSuccessfulTime() {
    return lastSuccessfulTime;
  }

  public void setLastSuccessfulTime(@Nullable Instant lastSuccessfulTime) {
    this.lastSuccessfulTime = lastSuccessfulTime;
  }

  public @Nullable Instant getNextScheduleTime() {
    return nextScheduleTime;
  }

  public void setNextScheduleTime(@Nullable Instant nextScheduleTime) {
    this.nextScheduleTime = nextScheduleTime;
  }

  public @Nullable Integer getMatchedPods() {
    return matchedPods;
  }

  public void setMatchedPods(@Nullable Integer matchedPods) {
    this.matchedPods = matchedPods;
  }

  public @Nullable Integer getKept() {
    return kept;
  }

  public void setKept(@Nullable Integer kept) {
    this.kept = kept;
  }

  public @Nullable Long getKeptBytes() {
    return keptBytes;
  }

  public void setKeptBytes(@Nullable Long keptBytes) {
    this.keptBytes = keptBytes;
  }

  public @Nullable String getKeptSize() {
    return keptSize;
  }

  public void setKeptSize(@Nullable String keptSize) {
    this.keptSize = keptSize;
  }

  public @Nullable String getNewestGood() {
    return newestGood;
  }

  public void setNewestGood(@Nullable String newestGood) {
    this.newestGood = newestGood;
  }

  public @Nullable Instant getNewestGoodTime() {
    return newestGoodTime;
  }

  public void setNewestGoodTime(@Nullable Instant newestGoodTime) {
    this.newestGoodTime = newestGoodTime;
  }

  public @Nullable List<ScheduledRun> getHistory() {
    return history;
  }

  public void setHistory(@Nullable List<ScheduledRun> history) {
    this.history = history;
  }

  public @Nullable List<AutomaticRestore> getRestores() {
    return restores;
  }

  public void setRestores(@Nullable List<AutomaticRestore> restores) {
    this.restores = restores;
  }
}
