package dev.stasis.agent.cuda;

/**
 * A GPU, as reported by NVML.
 *
 * @param index NVML's index, which on most machines is the N of {@code /dev/nvidiaN}, but not
 *     CUDA's index
 * @param model for example {@code NVIDIA H200}; a restore maps a GPU only to one of the same model
 * @param memoryTotal bytes
 * @param memoryFree bytes, at the time of the query
 * @param pciBusId {@code 00000000:1B:00.0}
 * @param computeCapability {@code 9.0}
 * @param mig whether it is partitioned into MIG instances, which the driver cannot checkpoint
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
