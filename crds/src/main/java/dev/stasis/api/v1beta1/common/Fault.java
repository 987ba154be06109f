package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A requirement that is not met, or a failure. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Fault(
    @Required @JsonPropertyDescription("Machine-readable reason, in CamelCase.") String reason,
    @JsonPropertyDescription("The property that does not match.") @Nullable String property,
    @JsonPropertyDescription("The expected value.") @Nullable String wanted,
    @JsonPropertyDescription("The actual value.") @Nullable String found,
    @JsonPropertyDescription("The step that failed.") @Nullable String step,
    @JsonPropertyDescription("Error of the GPU driver, such as CUDA_ERROR_OUT_OF_MEMORY (2).")
        @Nullable String driverError,
    @Required @JsonPropertyDescription("Human-readable summary.") String message) {

  /**
   * Property that does not matter if the restored pod has the same IP address, which the user
   * states by {@code tcpConnections: Restore}.
   */
  public static final String SOCKET_ADDRESS = "socket address";

  /** Returns a fault that is reported as a sentence. */
  public static Fault of(String reason, @Nullable String property, String message) {
    return new Fault(reason, property, null, null, null, null, message);
  }

  /** Returns a fault for a requirement that is not met. */
  public static Fault misfit(String reason, String property, String wanted, String found) {
    return new Fault(
        reason,
        property,
        wanted,
        found,
        null,
        null,
        property + ": expected " + wanted + ", got " + found);
  }
}
