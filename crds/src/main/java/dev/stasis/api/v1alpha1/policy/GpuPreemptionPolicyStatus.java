package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What it did. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuPreemptionPolicyStatus extends ConditionedStatus {
  @JsonPropertyDescription("Victims in the last hour.")
  private @Nullable Integer budgetUsed;

  @JsonPropertyDescription("Number of pods that may be victims now.")
  private @Nullable Integer candidates;

  @JsonPropertyDescription("Number of preemptors that wait now.")
  private @Nullable Integer waiting;

  @JsonPropertyDescription("Number of victims that are not back yet.")
  private @Nullable Integer evicted;

  @JsonPropertyDescription(
      "PriorityClasses of preemptors that let the scheduler preempt by itself.")
  private @Nullable List<String> preemptingClasses;

  @JsonPropertyDescription("The last times that room was made, the newest first; at most 20.")
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
