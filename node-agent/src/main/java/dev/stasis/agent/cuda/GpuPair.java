package dev.stasis.agent.cuda;

/**
 * Where a checkpointed process finds a GPU again. A map holds every GPU that the process saw when
 * it was checkpointed, each new one once; an identity map is left out altogether.
 *
 * @param from the GPU that it had
 * @param to the GPU that it gets
 */
public record GpuPair(GpuUuid from, GpuUuid to) {

  @Override
  public String toString() {
    return from + "=" + to;
  }
}
