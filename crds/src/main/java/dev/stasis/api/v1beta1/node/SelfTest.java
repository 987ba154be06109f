package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Result of the agent's self-test, and rates that it has measured since. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SelfTest(
    @JsonPropertyDescription("Time of the event.") @Nullable Instant time,
    @JsonPropertyDescription("Whether the self-test passed.") @Nullable Boolean passed,
    @JsonPropertyDescription("What failed.") @Nullable String message,
    @JsonPropertyDescription(
            "Rate at which the driver copied device memory to the host, in bytes per second, in the"
                + " last checkpoint of at least 1 GiB since the agent started.")
        @Nullable Long gpuCheckpointBytesPerSecond,
    @JsonPropertyDescription(
            "Rate at which the driver copied device memory back, in bytes per second, in the last"
                + " resume or restore of at least 1 GiB since the agent started.")
        @Nullable Long gpuRestoreBytesPerSecond,
    @JsonPropertyDescription(
            "Rate of saving memory regions, in bytes per second, in the last checkpoint of at least"
                + " 1 GiB since the agent started. Before that, in the self-test, whose 64 MiB take"
                + " longer than such a rate suggests.")
        @Nullable Long moveOutBytesPerSecond,
    @JsonPropertyDescription(
            "Rate of restoring memory regions, in bytes per second, in the self-test.")
        @Nullable Long moveInBytesPerSecond,
    @JsonPropertyDescription("Write rate of the node-local store, in bytes per second.")
        @Nullable Long writeBytesPerSecond,
    @JsonPropertyDescription("Read rate of the node-local store, in bytes per second.")
        @Nullable Long readBytesPerSecond) {

  /** Returns that of a node that has measured nothing. */
  public static SelfTest none() {
    return new SelfTest(null, null, null, null, null, null, null, null, null);
  }

  /** Returns a copy with the rates of later operations, as far as there were any. */
  public SelfTest with(
      @Nullable Long gpuCheckpoint, @Nullable Long gpuRestore, @Nullable Long moveOut) {
    return new SelfTest(
        time,
        passed,
        message,
        gpuCheckpoint == null ? gpuCheckpointBytesPerSecond : gpuCheckpoint,
        gpuRestore == null ? gpuRestoreBytesPerSecond : gpuRestore,
        moveOut == null ? moveOutBytesPerSecond : moveOut,
        moveInBytesPerSecond,
        writeBytesPerSecond,
        readBytesPerSecond);
  }
}
