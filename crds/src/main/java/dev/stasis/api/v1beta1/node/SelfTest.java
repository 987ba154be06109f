package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Result of the agent's self-test. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class SelfTest {
  @JsonPropertyDescription("Time of the event.")
  private @Nullable Instant time;

  @JsonPropertyDescription("Whether the self-test passed.")
  private @Nullable Boolean passed;

  @JsonPropertyDescription("What failed.")
  private @Nullable String message;

  @JsonPropertyDescription("Driver: GPU checkpoint rate, in bytes per second.")
  private @Nullable Long gpuCheckpointBytesPerSecond;

  @JsonPropertyDescription("Driver: GPU restore rate, in bytes per second.")
  private @Nullable Long gpuRestoreBytesPerSecond;

  @JsonPropertyDescription("Rate of saving memory regions, in bytes per second.")
  private @Nullable Long moveOutBytesPerSecond;

  @JsonPropertyDescription("Rate of restoring memory regions, in bytes per second.")
  private @Nullable Long moveInBytesPerSecond;

  @JsonPropertyDescription("Write rate of the node-local store, in bytes per second.")
  private @Nullable Long writeBytesPerSecond;

  @JsonPropertyDescription("Read rate of the node-local store, in bytes per second.")
  private @Nullable Long readBytesPerSecond;

  public @Nullable Instant getTime() {
    return time;
  }

  public void setTime(@Nullable Instant time) {
    this.time = time;
  }

  public @Nullable Boolean getPassed() {
    return passed;
  }

  public void setPassed(@Nullable Boolean passed) {
    this.passed = passed;
  }

  public @Nullable String getMessage() {
    return message;
  }

  public void setMessage(@Nullable String message) {
    this.message = message;
  }

  public @Nullable Long getGpuCheckpointBytesPerSecond() {
    return gpuCheckpointBytesPerSecond;
  }

  public void setGpuCheckpointBytesPerSecond(@Nullable Long gpuCheckpointBytesPerSecond) {
    this.gpuCheckpointBytesPerSecond = gpuCheckpointBytesPerSecond;
  }

  public @Nullable Long getGpuRestoreBytesPerSecond() {
    return gpuRestoreBytesPerSecond;
  }

  public void setGpuRestoreBytesPerSecond(@Nullable Long gpuRestoreBytesPerSecond) {
    this.gpuRestoreBytesPerSecond = gpuRestoreBytesPerSecond;
  }

  public @Nullable Long getMoveOutBytesPerSecond() {
    return moveOutBytesPerSecond;
  }

  public void setMoveOutBytesPerSecond(@Nullable Long moveOutBytesPerSecond) {
    this.moveOutBytesPerSecond = moveOutBytesPerSecond;
  }

  public @Nullable Long getMoveInBytesPerSecond() {
    return moveInBytesPerSecond;
  }

  public void setMoveInBytesPerSecond(@Nullable Long moveInBytesPerSecond) {
    this.moveInBytesPerSecond = moveInBytesPerSecond;
  }

  public @Nullable Long getWriteBytesPerSecond() {
    return writeBytesPerSecond;
  }

  public void setWriteBytesPerSecond(@Nullable Long writeBytesPerSecond) {
    this.writeBytesPerSecond = writeBytesPerSecond;
  }

  public @Nullable Long getReadBytesPerSecond() {
    return readBytesPerSecond;
  }

  public void setReadBytesPerSecond(@Nullable Long readBytesPerSecond) {
    this.readBytesPerSecond = readBytesPerSecond;
  }
}
