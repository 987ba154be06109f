package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Fields of every status that reports progress. */
public abstract class WorkStatus extends ConditionedStatus {
  @JsonPropertyDescription("The current step.")
  private @Nullable String step;

  @JsonPropertyDescription("Bytes processed in the current phase.")
  private @Nullable Long doneBytes;

  @JsonPropertyDescription("Total bytes of the current phase.")
  private @Nullable Long totalBytes;

  @JsonPropertyDescription("Human-readable progress of the current phase, such as 63%.")
  private @Nullable String progress;

  @JsonPropertyDescription("Current rate, in bytes per second.")
  private @Nullable Long bytesPerSecond;

  @JsonPropertyDescription("Human-readable rate, such as 3.1Gi/s.")
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

  /** Copies how far the work is from another status; null removes it. */
  public void copyProgress(@Nullable WorkStatus from) {
    step = from == null ? null : from.step;
    doneBytes = from == null ? null : from.doneBytes;
    totalBytes = from == null ? null : from.totalBytes;
    progress = from == null ? null : from.progress;
    bytesPerSecond = from == null ? null : from.bytesPerSecond;
    rate = from == null ? null : from.rate;
  }
}
