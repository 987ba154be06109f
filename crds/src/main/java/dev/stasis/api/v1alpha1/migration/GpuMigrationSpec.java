package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.FreezeOptions;
import dev.stasis.api.v1alpha1.common.Immutable;
import dev.stasis.api.v1alpha1.common.Names;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuMigration. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: must not exceed the deadline",
    fieldPath = ".lockTimeout")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuMigrationSpec extends FreezeOptions {
  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 253)
  @JsonPropertyDescription("Name of the pod to move, in the same namespace.")
  private String podName;

  @Immutable
  @Size(min = 1, max = 64)
  @JsonPropertyDescription(
      "UID of the pod. A different pod with the same name is refused. Default: not checked.")
  private @Nullable String podUid;

  @Immutable
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Container to move. Default: the only one with GPUs.")
  private @Nullable String containerName;

  @Immutable
  @JsonPropertyDescription(
      "Where to move the pod. Default: any compatible node except its current one.")
  private @Nullable Target target;

  @Immutable
  @Default("TargetFirst")
  @JsonPropertyDescription(
      "Whether the target pod is created before the source pod is deleted. Default: "
          + "TargetFirst.")
  private MigrationOrder order = MigrationOrder.TARGET_FIRST;

  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "Name of a GpuCheckpointStore that both nodes can reach, used for the transfer. "
          + "Default with TargetFirst: none, the agents stream to each other. Default with "
          + "SourceFirst: the store marked as default, or another one that both nodes can "
          + "reach.")
  private @Nullable String store;

  @Immutable
  @Min(1048576)
  @JsonPropertyDescription(
      "Bandwidth limit of the transfer, in bytes per second. Default: unlimited.")
  private @Nullable Long maxBytesPerSecond;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: must be between 10s and 168h")
  @JsonPropertyDescription(
      "Time limit of the whole request, such as 90s, 10m or 168h. After that it is "
          + "rolled back and the workload keeps running. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @Min(0)
  @JsonPropertyDescription(
      "Seconds after which the finished object is deleted. The pod is not affected. "
          + "Default: never.")
  private @Nullable Integer ttlSecondsAfterFinished;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the migration, until status.commitment is set: the source keeps running."
          + " Cannot be unset. Default: false.")
  private Boolean cancel = false;

  public String getPodName() {
    return podName;
  }

  public void setPodName(String podName) {
    this.podName = podName;
  }

  public @Nullable String getPodUid() {
    return podUid;
  }

  public void setPodUid(@Nullable String podUid) {
    this.podUid = podUid;
  }

  public @Nullable String getContainerName() {
    return containerName;
  }

  public void setContainerName(@Nullable String containerName) {
    this.containerName = containerName;
  }

  public @Nullable Target getTarget() {
    return target;
  }

  public void setTarget(@Nullable Target target) {
    this.target = target;
  }

  public MigrationOrder getOrder() {
    return order;
  }

  public void setOrder(MigrationOrder order) {
    this.order = order;
  }

  public @Nullable String getStore() {
    return store;
  }

  public void setStore(@Nullable String store) {
    this.store = store;
  }

  public @Nullable Long getMaxBytesPerSecond() {
    return maxBytesPerSecond;
  }

  public void setMaxBytesPerSecond(@Nullable Long maxBytesPerSecond) {
    this.maxBytesPerSecond = maxBytesPerSecond;
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
