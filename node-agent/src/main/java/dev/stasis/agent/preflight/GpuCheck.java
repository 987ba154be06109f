package dev.stasis.agent.preflight;

import dev.stasis.agent.cuda.Gpu;
import java.util.ArrayList;
import java.util.List;

/** GPUs that the driver cannot checkpoint: MIG instances. */
final class GpuCheck implements Check {

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    for (Gpu gpu : subject.gpus().gpus()) {
      boolean seen = subject.gpuFiles().isEmpty() || subject.gpuFiles().contains(gpu.index());
      if (gpu.mig() && seen) {
        unmet.add(Requirement.MIG.found("MIG mode enabled on GPU " + gpu.uuid()));
      }
    }
    return unmet;
  }
}
