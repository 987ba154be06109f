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
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** What to bring back, and where. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be taken back",
    fieldPath = ".cancel")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuRestoreSpec {
  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "GpuCheckpoint to bring back, in the same namespace. One that is not Ready is "
          + "waited for.")
  private String checkpointName;

  @Immutable
  @JsonPropertyDescription(
      "Where the restored pod shall be. Default: any compatible node, under the old "
          + "name when it is free.")
  private @Nullable Target target;

  @Immutable
  @Default("Never")
  @JsonPropertyDescription(
      "Whether the workload may be started from its image when it cannot be restored. "
          + "Default: Never.")
  private ColdStartFallback coldStartFallback = ColdStartFallback.NEVER;

  @Immutable
  @JsonPropertyDescription(
      "What becomes of TCP connections that were open. Default: as the checkpoint was " + "taken.")
  private @Nullable Tcp tcp;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: wanted between 10s and 168h")
  @JsonPropertyDescription(
      "Longest time from the start of the holder until the proof, as 90s, 10m or 168h; "
          + "the wait for a node does not count. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @Default("false")
  @JsonPropertyDescription(
      "Cancels: the target is removed, the checkpoint stays. It cannot be taken back. "
          + "Default: false.")
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
}
