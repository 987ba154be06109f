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

/** What to move, and where. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be taken back",
    fieldPath = ".cancel")
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: wanted at most the deadline",
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
  @JsonPropertyDescription("Uid of the pod: refuses another pod of that name.")
  private @Nullable String podUid;

  @Immutable
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Container to move. Default: the only one with GPUs.")
  private @Nullable String containerName;

  @Immutable
  @JsonPropertyDescription("Where the pod shall be. Default: any compatible node but its own.")
  private @Nullable Target target;

  @Immutable
  @Default("TargetFirst")
  @JsonPropertyDescription("Which pod is there first. Default: TargetFirst.")
  private MigrationOrder order = MigrationOrder.TARGET_FIRST;

  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "GpuCheckpointStore that both nodes reach, to go through it. Default: none, the "
          + "agents stream to each other; with SourceFirst the one marked as default, or "
          + "another one that both nodes reach.")
  private @Nullable String store;

  @Immutable
  @Min(1048576)
  @JsonPropertyDescription("Limit of the transfer in bytes a second. Default: none.")
  private @Nullable Long maxBytesPerSecond;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: wanted between 10s and 168h")
  @JsonPropertyDescription(
      "Longest time for all of it, as 90s, 10m or 168h; then everything is undone and "
          + "the workload goes on. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @Default("false")
  @JsonPropertyDescription(
      "Cancels, as long as the target is not decided on: the source goes on. It cannot "
          + "be taken back. Default: false.")
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
}
