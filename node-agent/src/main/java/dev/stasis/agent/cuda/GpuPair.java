package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonFormat;

/**
 * The new GPU of a checkpointed process for one of its GPUs. A map contains every GPU that the
 * process saw when it was checkpointed, and each new one once; an identity map is omitted.
 *
 * @param from the GPU at the checkpoint
 * @param to the GPU of the restore
 */
@JsonFormat(shape = JsonFormat.Shape.ARRAY) // ["GPU-old","GPU-new"]
public record GpuPair(GpuUuid from, GpuUuid to) {

  @Override
  public String toString() {
    return from + "=" + to;
  }
}
