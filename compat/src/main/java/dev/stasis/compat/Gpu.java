package dev.stasis.compat;

/**
 * One GPU, as far as it decides where a workload can come back.
 *
 * @param model product name, {@code NVIDIA H200}
 * @param memoryMiB memory in MiB, as the driver gives it
 * @param computeCapability {@code 9.0}
 * @param mig whether it is cut into instances
 */
public record Gpu(String model, long memoryMiB, String computeCapability, boolean mig) {
  String migText() {
    return mig ? "Enabled" : "Disabled";
  }
}
