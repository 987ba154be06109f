package dev.stasis.api.v1beta1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Options of a GpuRestore that few users need. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class RestoreOptions {
  @Immutable
  @JsonPropertyDescription("What happens to open TCP connections. Default: as in the checkpoint.")
  private @Nullable TcpConnections tcpConnections;

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

  public @Nullable TcpConnections getTcpConnections() {
    return tcpConnections;
  }

  public void setTcpConnections(@Nullable TcpConnections tcpConnections) {
    this.tcpConnections = tcpConnections;
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }

  public @Nullable Integer getTtlSecondsAfterFinished() {
    return ttlSecondsAfterFinished;
  }

  public void setTtlSecondsAfterFinished(@Nullable Integer ttlSecondsAfterFinished) {
    this.ttlSecondsAfterFinished = ttlSecondsAfterFinished;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }
}
