package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import java.util.List;

/**
 * The properties of a waiting container.
 *
 * @param gpus the node's GPUs
 * @param seen the GPUs that the container may open, in its order; empty if the container or the
 *     driver does not answer
 */
public record TargetFound(NodeGpus gpus, List<Gpu> seen) {
  public TargetFound {
    seen = List.copyOf(seen);
  }
}
