package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.CheckpointTemplate;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuPreemptionPolicy. */
@ValidationRule(
    value =
        "!has(self.victims) || !has(self.preemptors) || self.victims.maxPriority < "
            + "self.preemptors.minPriority",
    message =
        "victims.maxPriority: must be less than preemptors.minPriority, otherwise pods could"
            + " preempt each other in turn",
    fieldPath = ".victims.maxPriority")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuPreemptionPolicySpec {
  @Required
  @JsonPropertyDescription("Pods that may be preempted.")
  private Victims victims;

  @Required
  @JsonPropertyDescription("Pending pods that may preempt others.")
  private Preemptors preemptors;

  @Default("10m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) <= duration('720h')",
      message = "minRunTime: must be at most 720h")
  @JsonPropertyDescription(
      "Time that a pod must have run, since its start or restore, before it may be "
          + "preempted, such as 90s, 10m or 1h. Default: 10m.")
  private TimeSpan minRunTime = TimeSpan.of("10m");

  @Default("false")
  @JsonPropertyDescription(
      "Pauses the policy: no more pods are preempted. Pods preempted earlier are still "
          + "restored. Default: false.")
  private Boolean suspend = false;

  @JsonPropertyDescription(
      "Store and options of the victims' checkpoints. Default: the defaults of GpuCheckpoint.")
  private @Nullable CheckpointTemplate checkpoint;

  @JsonPropertyDescription("Options that few users need.")
  private PreemptionOptions options = new PreemptionOptions();

  public Victims getVictims() {
    return victims;
  }

  public void setVictims(Victims victims) {
    this.victims = victims;
  }

  public Preemptors getPreemptors() {
    return preemptors;
  }

  public void setPreemptors(Preemptors preemptors) {
    this.preemptors = preemptors;
  }

  public TimeSpan getMinRunTime() {
    return minRunTime;
  }

  public void setMinRunTime(TimeSpan minRunTime) {
    this.minRunTime = minRunTime;
  }

  public Boolean getSuspend() {
    return suspend;
  }

  public void setSuspend(Boolean suspend) {
    this.suspend = suspend;
  }

  public @Nullable CheckpointTemplate getCheckpoint() {
    return checkpoint;
  }

  public void setCheckpoint(@Nullable CheckpointTemplate checkpoint) {
    this.checkpoint = checkpoint;
  }

  public PreemptionOptions getOptions() {
    return options;
  }

  public void setOptions(PreemptionOptions options) {
    this.options = options;
  }
}
