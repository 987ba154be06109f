package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** One thing that is not as it must be, or that went wrong. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Fault(
    @Required @JsonPropertyDescription("Which, in one word of a closed list, in CamelCase.")
        String reason,
    @JsonPropertyDescription("The property that is not as wanted.") @Nullable String property,
    @JsonPropertyDescription("The value that is wanted.") @Nullable String wanted,
    @JsonPropertyDescription("The value that was found.") @Nullable String found,
    @JsonPropertyDescription("The step in which it went wrong.") @Nullable String step,
    @JsonPropertyDescription(
            "The error of the GPU driver in its own words: CUDA_ERROR_OUT_OF_MEMORY (2).")
        @Nullable String driverError,
    @Required @JsonPropertyDescription("One sentence that says all of it.") String message) {

  /**
   * The property of a workload that a restore under the same address does not need: the user states
   * that the address stays by {@code tcp: Keep}.
   */
  public static final String SOCKET_ADDRESS = "socket address";

  /** Something is not as it must be. */
  public static Fault misfit(String reason, String property, String wanted, String found) {
    return new Fault(
        reason,
        property,
        wanted,
        found,
        null,
        null,
        property + ": wanted " + wanted + ", found " + found);
  }
}
