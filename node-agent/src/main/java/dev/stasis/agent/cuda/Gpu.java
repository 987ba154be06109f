package dev.stasis.agent.cuda;

/**
 * One GPU, as NVML tells it.
 *
 * @param index NVML's, and that of {@code /dev/nvidiaN} on most machines, but not CUDA's
 * @param model for example {@code NVIDIA H200}; a map goes only between equal ones
 * @param memoryTotal bytes
 * @param memoryFree bytes, at the moment of asking
 * @param pciBusId {@code 00000000:1B:00.0}
 * @param computeCapability {@code 9.0}
 * @param mig whether it is cut into MIG instances, which the driver cannot checkpoint
 * @param persistence whether persistence mode is on; without it a Restore needs cuInit
 */
public record Gpu(
    int index,
    GpuUuid uuid,
    String model,
    long memoryTotal,
    long memoryFree,
    String pciBusId,
    String computeCapability,
    boolean mig,
    boolean persistence) {}
