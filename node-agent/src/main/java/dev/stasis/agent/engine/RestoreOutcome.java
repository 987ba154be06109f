package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.FailedRequirement;
import java.util.List;

/** The outcome of a restore. */
public sealed interface RestoreOutcome {

  /**
   * The workload runs again, and was verified.
   *
   * @param init its first process
   * @param proof the verified state of each process
   * @param gpuBytes its device memory
   */
  record Proven(int init, List<ProvenProcess> proof, long gpuBytes, StepTimings timings)
      implements RestoreOutcome {
    public Proven {
      proof = List.copyOf(proof);
    }
  }

  /** The artifact and the target do not match, or one of them is invalid; nothing was changed. */
  record Refused(List<FailedRequirement> unmet) implements RestoreOutcome {
    public Refused {
      unmet = List.copyOf(unmet);
    }
  }

  /**
   * It failed. The restored processes were ended, so the artifact is still the only complete copy.
   * The target must be deleted, because it contains files of the workload.
   *
   * @param ended whether no restored process is left; otherwise some may still run
   */
  record Failed(String step, Reason reason, String message, boolean ended, StepTimings timings)
      implements RestoreOutcome {}
}
