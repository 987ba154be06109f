package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options of a GpuPreemptionPolicy that few users need. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class PreemptionOptions {
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

  @Default("Skip")
  @JsonPropertyDescription("Whether a pod that belongs to a gang may be preempted. Default: Skip.")
  private GroupPolicy groupPolicy = GroupPolicy.SKIP;

  @Default("false")
  @JsonPropertyDescription(
      "Delays the scheduler's own preemption until the victims are checkpointed, for "
          + "preemptors whose PriorityClass allows the scheduler to preempt. Default: false.")
  private Boolean interceptScheduler = false;

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

  public GroupPolicy getGroupPolicy() {
    return groupPolicy;
  }

  public void setGroupPolicy(GroupPolicy groupPolicy) {
    this.groupPolicy = groupPolicy;
  }

  public Boolean getInterceptScheduler() {
    return interceptScheduler;
  }

  public void setInterceptScheduler(Boolean interceptScheduler) {
    this.interceptScheduler = interceptScheduler;
  }
}
