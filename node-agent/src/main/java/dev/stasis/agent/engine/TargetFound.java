package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import java.util.List;

/**
 * What a container that waits for a restore has.
 *
 * @param gpus the node's GPUs
 * @param seen those that the container may open, in the order in which it sees them; empty when the
 *     container or the driver does not answer
 */
public record TargetFound(NodeGpus gpus, List<Gpu> seen) {
  public TargetFound {
    seen = List.copyOf(seen);
  }
}
