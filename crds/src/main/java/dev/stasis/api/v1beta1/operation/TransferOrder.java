package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Options of a transfer between agents. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class TransferOrder {
  @Required
  @Size(min = 1, max = 128)
  @JsonPropertyDescription(
      "ID of the transfer, the same on both ends: UID of the GpuMigration and number of"
          + " the attempt.")
  private String id;

  @Required
  @JsonPropertyDescription("The other end of the transfer.")
  private Peer peer;

  @Min(1)
  @Max(64)
  @JsonPropertyDescription("Number of parallel streams. Default: chosen by the agents.")
  private @Nullable Integer streams;

  @Min(1048576)
  @JsonPropertyDescription("Bandwidth limit in bytes per second. Default: unlimited.")
  private @Nullable Long maxBytesPerSecond;

  @JsonPropertyDescription(
      "Starts the transfer before the artifact is complete: finished parts are sent "
          + "immediately, and the digest of the artifact is not known yet. Default: false.")
  private @Nullable Boolean ahead;

  @JsonPropertyDescription(
      "Pod into which the artifact will be restored, for Receive. The agent loads device memory of "
          + "the direct data path onto its GPU while the artifact arrives. Default: none.")
  private @Nullable OperationPod target;

  public String getId() {
    return id;
  }

  public void setId(String id) {
    this.id = id;
  }

  public Peer getPeer() {
    return peer;
  }

  public void setPeer(Peer peer) {
    this.peer = peer;
  }

  public @Nullable Integer getStreams() {
    return streams;
  }

  public void setStreams(@Nullable Integer streams) {
    this.streams = streams;
  }

  public @Nullable Long getMaxBytesPerSecond() {
    return maxBytesPerSecond;
  }

  public void setMaxBytesPerSecond(@Nullable Long maxBytesPerSecond) {
    this.maxBytesPerSecond = maxBytesPerSecond;
  }

  public @Nullable OperationPod getTarget() {
    return target;
  }

  public void setTarget(@Nullable OperationPod target) {
    this.target = target;
  }

  public @Nullable Boolean getAhead() {
    return ahead;
  }

  public void setAhead(@Nullable Boolean ahead) {
    this.ahead = ahead;
  }
}
