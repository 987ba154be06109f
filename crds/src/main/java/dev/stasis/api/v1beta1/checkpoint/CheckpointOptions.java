package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.common.WorkOptions;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Options of a GpuCheckpoint that few users need. */
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: must not exceed the deadline",
    fieldPath = ".lockTimeout")
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class CheckpointOptions extends WorkOptions {
  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Nothing is frozen. The status reports whether the checkpoint is "
          + "possible, every reason against it, the expected size and freeze time, and the "
          + "nodes that could restore it. Default: false.")
  private Boolean dryRun = false;

  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Refuses a workload that could not be restored in another pod, before anything is"
          + " frozen. Implied by afterCheckpoint Evict and by a schedule. Default: false.")
  private Boolean requireRestorable = false;

  @Default("Delete")
  @JsonPropertyDescription(
      "What happens to the artifact when this object is deleted. The only copy of an "
          + "evicted workload is always retained. Default: Delete.")
  private DeletionPolicy deletionPolicy = DeletionPolicy.DELETE;

  @Size(min = 20, max = 40)
  @JsonPropertyDescription(
      "Verifies the artifact now, if it was last verified before this time. Default: as"
          + " configured for the operator.")
  private @Nullable Instant verifyAfter;

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('168h')",
      message = "timeSlice: must be between 1s and 168h")
  @JsonPropertyDescription(
      "Time-slices the workload with the others on its GPUs that have a timeSlice. "
          + "Requires afterCheckpoint Suspend and desiredState Auto. One workload runs at a "
          + "time, at least for its slice, such as 30s or 10m; then the one that has waited "
          + "longest runs. Default: no time slicing.")
  private @Nullable TimeSpan timeSlice;

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @JsonPropertyDescription(
      "Time after which a Ready GpuCheckpoint is deleted, such as 10m or 168h. Its artifact is "
          + "deleted too, unless deletionPolicy is Retain. Default: never.")
  private @Nullable TimeSpan ttlAfterReady;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the request: it is rolled back and the workload keeps running. Cannot be"
          + " unset. Default: false.")
  private Boolean cancel = false;

  public Boolean getDryRun() {
    return dryRun;
  }

  public void setDryRun(Boolean dryRun) {
    this.dryRun = dryRun;
  }

  public Boolean getRequireRestorable() {
    return requireRestorable;
  }

  public void setRequireRestorable(Boolean requireRestorable) {
    this.requireRestorable = requireRestorable;
  }

  public DeletionPolicy getDeletionPolicy() {
    return deletionPolicy;
  }

  public void setDeletionPolicy(DeletionPolicy deletionPolicy) {
    this.deletionPolicy = deletionPolicy;
  }

  public @Nullable Instant getVerifyAfter() {
    return verifyAfter;
  }

  public void setVerifyAfter(@Nullable Instant verifyAfter) {
    this.verifyAfter = verifyAfter;
  }

  public @Nullable TimeSpan getTimeSlice() {
    return timeSlice;
  }

  public void setTimeSlice(@Nullable TimeSpan timeSlice) {
    this.timeSlice = timeSlice;
  }

  public @Nullable TimeSpan getTtlAfterReady() {
    return ttlAfterReady;
  }

  public void setTtlAfterReady(@Nullable TimeSpan ttlAfterReady) {
    this.ttlAfterReady = ttlAfterReady;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }
}
