package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** What every status of a piece of work says. */
public abstract class WorkStatus extends ConditionedStatus {
  @JsonPropertyDescription("The step that is in hand.")
  private @Nullable String step;

  @JsonPropertyDescription("Bytes that are done of the phase in hand.")
  private @Nullable Long doneBytes;

  @JsonPropertyDescription("Bytes of the phase in hand.")
  private @Nullable Long totalBytes;

  @JsonPropertyDescription("Part of the phase that is done, for people: 63%.")
  private @Nullable String progress;

  @JsonPropertyDescription("Rate of the last seconds, in bytes a second.")
  private @Nullable Long bytesPerSecond;

  @JsonPropertyDescription("The same, for people: 3.1Gi/s.")
  private @Nullable String rate;

  public @Nullable String getStep() {
    return step;
  }

  public void setStep(@Nullable String step) {
    this.step = step;
  }

  public @Nullable Long getDoneBytes() {
    return doneBytes;
  }

  public void setDoneBytes(@Nullable Long doneBytes) {
    this.doneBytes = doneBytes;
  }

  public @Nullable Long getTotalBytes() {
    return totalBytes;
  }

  public void setTotalBytes(@Nullable Long totalBytes) {
    this.totalBytes = totalBytes;
  }

  public @Nullable String getProgress() {
    return progress;
  }

  public void setProgress(@Nullable String progress) {
    this.progress = progress;
  }

  public @Nullable Long getBytesPerSecond() {
    return bytesPerSecond;
  }

  public void setBytesPerSecond(@Nullable Long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  public @Nullable String getRate() {
    return rate;
  }

  public void setRate(@Nullable String rate) {
    this.rate = rate;
  }
}
