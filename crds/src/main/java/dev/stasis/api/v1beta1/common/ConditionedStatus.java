package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Fields of every status. */
public abstract class ConditionedStatus {
  @Min(-1)
  @JsonPropertyDescription(
      "The metadata.generation that this status is based on; -1 until the object has been observed.")
  private @Nullable Long observedGeneration;

  @JsonPropertyDescription("Conditions, at most one of each type.")
  private @Nullable List<Condition> conditions;

  @JsonPropertyDescription("Reason for the current state, for the REASON column.")
  private @Nullable String reason;

  @JsonPropertyDescription("Human-readable description of the current state.")
  private @Nullable String message;

  public @Nullable Long getObservedGeneration() {
    return observedGeneration;
  }

  public void setObservedGeneration(@Nullable Long observedGeneration) {
    this.observedGeneration = observedGeneration;
  }

  public @Nullable List<Condition> getConditions() {
    return conditions;
  }

  public void setConditions(@Nullable List<Condition> conditions) {
    this.conditions = conditions;
  }

  public @Nullable String getReason() {
    return reason;
  }

  public void setReason(@Nullable String reason) {
    this.reason = reason;
  }

  public @Nullable String getMessage() {
    return message;
  }

  public void setMessage(@Nullable String message) {
    this.message = message;
  }
}
