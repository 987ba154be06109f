package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.CheckpointTemplate;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuPreemptionPolicy. */
@ValidationRule(
    value =
        "!has(self.victims) || !has(self.preemptors) || self.victims.maxPriority < "
            + "self.preemptors.minPriority",
    message =
        "victims.maxPriority: must be less than preemptors.minPriority, otherwise pods could "
            + "take turns in preempting each other",
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

  @Default("20")
  @Min(1)
  @Max(10000)
  @JsonPropertyDescription("Maximum number of preempted pods per hour of this policy. Default: 20.")
  private Integer budgetPerHour = 20;

  @Default("2")
  @Min(1)
  @Max(60)
  @JsonPropertyDescription("Maximum number of preemptions of one pod per hour. Default: 2.")
  private Integer budgetPerPodPerHour = 2;

  @Size(min = 1, max = 3)
  @ValidationRule(
      value = "self.all(one, self.exists_one(other, other == one))",
      message = "order: must list each criterion at most once")
  @JsonPropertyDescription(
      "Criteria for choosing victims, applied in this order. Default: LowestPriority, "
          + "LeastWorkLost, ShortestFreeze.")
  private @Nullable List<VictimOrder> order;

  @Default("8")
  @Min(1)
  @Max(64)
  @JsonPropertyDescription("Maximum number of victims for one preemptor or one gang. Default: 8.")
  private Integer maxVictims = 8;

  @Default("Refuse")
  @JsonPropertyDescription(
      "Whether a pod that belongs to a gang may be preempted. Default: Refuse.")
  private Gangs gangs = Gangs.REFUSE;

  @Default("false")
  @JsonPropertyDescription(
      "Delays the scheduler's own preemption until the victims are checkpointed, for "
          + "preemptors whose PriorityClass allows the scheduler to preempt. Default: false.")
  private Boolean interceptScheduler = false;

  @Default("false")
  @JsonPropertyDescription(
      "Pauses the policy: no more pods are preempted. Pods preempted earlier are still "
          + "restored. Default: false.")
  private Boolean suspend = false;

  @JsonPropertyDescription(
      "Options of the victims' checkpoints. Default: the defaults of GpuCheckpoint.")
  private @Nullable CheckpointTemplate checkpoint;

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

  public Integer getBudgetPerHour() {
    return budgetPerHour;
  }

  public void setBudgetPerHour(Integer budgetPerHour) {
    this.budgetPerHour = budgetPerHour;
  }

  public Integer getBudgetPerPodPerHour() {
    return budgetPerPodPerHour;
  }

  public void setBudgetPerPodPerHour(Integer budgetPerPodPerHour) {
    this.budgetPerPodPerHour = budgetPerPodPerHour;
  }

  public @Nullable List<VictimOrder> getOrder() {
    return order;
  }

  public void setOrder(@Nullable List<VictimOrder> order) {
    this.order = order;
  }

  public Integer getMaxVictims() {
    return maxVictims;
  }

  public void setMaxVictims(Integer maxVictims) {
    this.maxVictims = maxVictims;
  }

  public Gangs getGangs() {
    return gangs;
  }

  public void setGangs(Gangs gangs) {
    this.gangs = gangs;
  }

  public Boolean getInterceptScheduler() {
    return interceptScheduler;
  }

  public void setInterceptScheduler(Boolean interceptScheduler) {
    this.interceptScheduler = interceptScheduler;
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
}
