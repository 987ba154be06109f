package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.CheckpointTemplate;
import org.jspecify.annotations.Nullable;

/** Store, retention and options of the checkpoints that a schedule creates. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class ScheduledCheckpointTemplate extends CheckpointTemplate {
  @JsonPropertyDescription("Checkpoints to keep. Default: all.")
  private @Nullable Retention retention;

  public @Nullable Retention getRetention() {
    return retention;
  }

  public void setRetention(@Nullable Retention retention) {
    this.retention = retention;
  }
}
