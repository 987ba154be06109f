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

/** Who yields to whom. */
@ValidationRule(
    value =
        "!has(self.victims) || !has(self.preemptors) || self.victims.maxPriority < "
            + "self.preemptors.minPriority",
    message =
        "victims.maxPriority: wanted less than preemptors.minPriority, else pods could "
            + "take turns in preempting each other",
    fieldPath = ".victims.maxPriority")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuPreemptionPolicySpec {
  @Required
  @JsonPropertyDescription("Which pods may be frozen to make room.")
  private Victims victims;

  @Required
  @JsonPropertyDescription("Which pending pods may have room made for them.")
  private Preemptors preemptors;

  @Default("10m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) <= duration('720h')",
      message = "minRunTime: wanted at most 720h")
  @JsonPropertyDescription(
      "Time that a pod runs before it may be a victim, and again after it came back, "
          + "as 90s, 10m or 1h. Default: 10m.")
  private TimeSpan minRunTime = TimeSpan.of("10m");

  @Default("20")
  @Min(1)
  @Max(10000)
  @JsonPropertyDescription("Victims in an hour, of this policy. Default: 20.")
  private Integer budgetPerHour = 20;

  @Default("2")
  @Min(1)
  @Max(60)
  @JsonPropertyDescription("How often one pod may be a victim in an hour. Default: 2.")
  private Integer budgetPerPodPerHour = 2;

  @Size(min = 1, max = 3)
  @ValidationRule(
      value = "self.all(one, self.exists_one(other, other == one))",
      message = "order: wanted each reason once")
  @JsonPropertyDescription(
      "Which victim is taken rather than another: by the first reason that tells them "
          + "apart. Default: LowestPriority, LeastWorkLost, ShortestFreeze.")
  private @Nullable List<VictimOrder> order;

  @Default("8")
  @Min(1)
  @Max(64)
  @JsonPropertyDescription("Victims for one preemptor, or for one gang of them. Default: 8.")
  private Integer maxVictims = 8;

  @Default("Refuse")
  @JsonPropertyDescription(
      "Whether a pod that works together with others may be a victim. Default: Refuse.")
  private Gangs gangs = Gangs.REFUSE;

  @Default("false")
  @JsonPropertyDescription(
      "Holds the scheduler back while victims are checkpointed, for preemptors whose "
          + "PriorityClass lets the scheduler preempt by itself. Default: false.")
  private Boolean interceptScheduler = false;

  @Default("false")
  @JsonPropertyDescription(
      "Takes no more victims, as long as it is true; those that were taken come back "
          + "all the same. Default: false.")
  private Boolean suspend = false;

  @JsonPropertyDescription(
      "How a victim is frozen. Default: as a GpuCheckpoint that says nothing about it.")
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
