package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** How a workload goes from agent to agent. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class TransferOrder {
  @Required
  @Size(min = 1, max = 128)
  @JsonPropertyDescription(
      "The same at both ends: uid of the GpuMigration and number of the attempt.")
  private String id;

  @Required
  @JsonPropertyDescription("The other end.")
  private Peer peer;

  @Min(1)
  @Max(64)
  @JsonPropertyDescription("Number of parallel streams. Default: as many as the agents find best.")
  private @Nullable Integer streams;

  @Min(1048576)
  @JsonPropertyDescription("Limit in bytes a second. Default: none.")
  private @Nullable Long maxBytesPerSecond;

  @JsonPropertyDescription(
      "Whether it begins before the artifact is whole: what of it is final goes out at once, and "
          + "its digest is not known yet. Default: false.")
  private @Nullable Boolean ahead;

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

  public @Nullable Boolean getAhead() {
    return ahead;
  }

  public void setAhead(@Nullable Boolean ahead) {
    this.ahead = ahead;
  }
}
