package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.ProvenProcess;
import dev.stasis.api.v1alpha1.common.ProcessProof;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** The end of a restore that was proven, just now or by a predecessor. */
record RestoreEnding(Clock clock) {

  Ending proven(List<ProvenProcess> processes, long wantedBytes) {
    long found = processes.stream().mapToLong(ProvenProcess::gpuBytes).sum();
    Proof proof =
        new Proof(
            clock.instant(),
            processes.stream()
                .map(
                    one ->
                        new ProcessProof(
                            (long) one.ownPid(),
                            one.command(),
                            String.valueOf(one.state()),
                            Optional.ofNullable(one.driverState()).map(Enum::name).orElse(null)))
                .toList(),
            wantedBytes,
            found);
    return Ending.done(
            "Proven",
            "%d processes run, %s of device memory are back"
                .formatted(processes.size(), HumanText.size(found)))
        .leaving(WorkloadState.RUNNING, null, processes.size())
        .with(status -> status.setProof(proof));
  }
}
