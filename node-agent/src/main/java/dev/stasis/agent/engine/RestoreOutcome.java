package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.Unmet;
import java.util.List;

/** How a restore ended. */
public sealed interface RestoreOutcome {

  /**
   * The workload runs again, and it was seen to.
   *
   * @param init its first process
   * @param proof what was seen of each process
   * @param gpuBytes device memory that it holds again
   */
  record Proven(int init, List<ProvenProcess> proof, long gpuBytes, StepTimings timings)
      implements RestoreOutcome {
    public Proven {
      proof = List.copyOf(proof);
    }
  }

  /**
   * The artifact and the target do not fit, or one of them is not what it has to be; nothing was
   * touched.
   */
  record Refused(List<Unmet> unmet) implements RestoreOutcome {
    public Refused {
      unmet = List.copyOf(unmet);
    }
  }

  /**
   * It failed. What had come back of the workload was ended, so the artifact is still the one whole
   * copy; the target has to be deleted, since files of the workload lie in it.
   */
  record Failed(String step, Reason reason, String message, StepTimings timings)
      implements RestoreOutcome {}
}
