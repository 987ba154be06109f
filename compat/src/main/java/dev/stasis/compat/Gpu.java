package dev.stasis.compat;

/**
 * The properties of one GPU that affect where a workload can be restored.
 *
 * @param model product name, for example {@code NVIDIA H200}
 * @param memoryMiB memory in MiB, as the driver reports it
 * @param computeCapability for example {@code 9.0}
 * @param mig whether it is partitioned into MIG instances
 */
public record Gpu(String model, long memoryMiB, String computeCapability, boolean mig) {
  String migText() {
    return mig ? "Enabled" : "Disabled";
  }
}
