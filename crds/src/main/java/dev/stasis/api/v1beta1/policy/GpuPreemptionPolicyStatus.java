package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a GpuPreemptionPolicy. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuPreemptionPolicyStatus extends ConditionedStatus {
  @JsonPropertyDescription("Number of pods preempted in the last hour.")
  private @Nullable Integer budgetUsed;

  @JsonPropertyDescription("Number of pods that could be preempted now.")
  private @Nullable Integer candidates;

  @JsonPropertyDescription("Number of preemptors that are waiting.")
  private @Nullable Integer waiting;

  @JsonPropertyDescription("Number of victims that have not been restored yet.")
  private @Nullable Integer evicted;

  @JsonPropertyDescription("PriorityClasses of preemptors that allow the scheduler to preempt.")
  private @Nullable List<String> preemptingClasses;

  @JsonPropertyDescription("The last preemptions, newest first. At most 20.")
  private @Nullable List<Preemption> last;

  public @Nullable Integer getBudgetUsed() {
    return budgetUsed;
  }

  public void setBudgetUsed(@Nullable Integer budgetUsed) {
    this.budgetUsed = budgetUsed;
  }

  public @Nullable Integer getCandidates() {
    return candidates;
  }

  public void setCandidates(@Nullable Integer candidates) {
    this.candidates = candidates;
  }

  public @Nullable Integer getWaiting() {
    return waiting;
  }

  public void setWaiting(@Nullable Integer waiting) {
    this.waiting = waiting;
  }

  public @Nullable Integer getEvicted() {
    return evicted;
  }

  public void setEvicted(@Nullable Integer evicted) {
    this.evicted = evicted;
  }

  public @Nullable List<String> getPreemptingClasses() {
    return preemptingClasses;
  }

  public void setPreemptingClasses(@Nullable List<String> preemptingClasses) {
    this.preemptingClasses = preemptingClasses;
  }

  public @Nullable List<Preemption> getLast() {
    return last;
  }

  public void setLast(@Nullable List<Preemption> last) {
    this.last = last;
  }
}
