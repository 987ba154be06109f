package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/**
 * Whether this node has a usable driver; every value except {@link Present} gives the reason why
 * not.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "driver")
@JsonSubTypes({
  @JsonSubTypes.Type(value = DriverAvailability.Present.class, name = "PRESENT"),
  @JsonSubTypes.Type(value = DriverAvailability.NoLibrary.class, name = "NO_LIBRARY"),
  @JsonSubTypes.Type(value = DriverAvailability.NoDevice.class, name = "NO_DEVICE"),
  @JsonSubTypes.Type(value = DriverAvailability.Outdated.class, name = "OUTDATED"),
  @JsonSubTypes.Type(value = DriverAvailability.Broken.class, name = "BROKEN")
})
public sealed interface DriverAvailability {

  /** One sentence for users. */
  String describe();

  /**
   * The library exists and has every required call.
   *
   * @param library where it was found
   * @param cudaVersion {@code cuDriverGetVersion}, for example 13000
   */
  record Present(String library, int cudaVersion) implements DriverAvailability {
    @Override
    public String describe() {
      return "driver for CUDA " + text(cudaVersion) + " at " + library;
    }
  }

  /** No library: the node has no driver, or the agent does not see it. */
  record NoLibrary(String library, List<String> tried) implements DriverAvailability {
    @Override
    public String describe() {
      return "no driver: expected " + library + ", got none at " + String.join(", ", tried);
    }
  }

  /** The library exists, but a GPU or the kernel module does not. */
  record NoDevice(String why) implements DriverAvailability {
    @Override
    public String describe() {
      return "no GPU: " + why;
    }
  }

  /** The driver is older than the required calls. */
  record Outdated(int cudaVersion, String missing) implements DriverAvailability {
    @Override
    public String describe() {
      return "driver too old: expected "
          + missing
          + " (driver 570, CUDA 12.8), got CUDA "
          + text(cudaVersion);
    }
  }

  /** The driver returns an error, for example 803 after an incomplete update. */
  record Broken(int code, String name) implements DriverAvailability {
    @Override
    public String describe() {
      return "driver broken: " + code + " " + name;
    }
  }

  private static String text(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }
}
