package dev.stasis.api.v1alpha1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ColdStartFallback;
import dev.stasis.api.v1alpha1.common.Immutable;
import dev.stasis.api.v1alpha1.common.Names;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.common.Tcp;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuRestore. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuRestoreSpec {
  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "Name of the GpuCheckpoint to restore, in the same namespace. If it is not Ready "
          + "yet, the restore waits.")
  private String checkpointName;

  @Immutable
  @JsonPropertyDescription(
      "Placement and name of the restored pod. Default: any compatible node, and the "
          + "name of the checkpointed pod if it is free.")
  private @Nullable Target target;

  @Immutable
  @Default("Never")
  @JsonPropertyDescription(
      "Whether to start the workload from its image if it cannot be restored. Default: Never.")
  private ColdStartFallback coldStartFallback = ColdStartFallback.NEVER;

  @Immutable
  @JsonPropertyDescription(
      "What happens to TCP connections that were open. Default: as in the checkpoint.")
  private @Nullable Tcp tcp;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: must be between 10s and 168h")
  @JsonPropertyDescription(
      "Time limit from the start of the target pod until the workload runs, such as "
          + "90s, 10m or 168h. The time until the pod is scheduled does not count. Default: "
          + "30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @Min(0)
  @JsonPropertyDescription(
      "Seconds after which the finished object is deleted. The restored pod is not "
          + "affected. Default: never.")
  private @Nullable Integer ttlSecondsAfterFinished;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the restore: the target pod is deleted, the checkpoint is kept. Cannot "
          + "be unset. Default: false.")
  private Boolean cancel = false;

  public String getCheckpointName() {
    return checkpointName;
  }

  public void setCheckpointName(String checkpointName) {
    this.checkpointName = checkpointName;
  }

  public @Nullable Target getTarget() {
    return target;
  }

  public void setTarget(@Nullable Target target) {
    this.target = target;
  }

  public ColdStartFallback getColdStartFallback() {
    return coldStartFallback;
  }

  public void setColdStartFallback(ColdStartFallback coldStartFallback) {
    this.coldStartFallback = coldStartFallback;
  }

  public @Nullable Tcp getTcp() {
    return tcp;
  }

  public void setTcp(@Nullable Tcp tcp) {
    this.tcp = tcp;
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }

  public @Nullable Integer getTtlSecondsAfterFinished() {
    return ttlSecondsAfterFinished;
  }

  public void setTtlSecondsAfterFinished(@Nullable Integer ttlSecondsAfterFinished) {
    this.ttlSecondsAfterFinished = ttlSecondsAfterFinished;
  }
}
