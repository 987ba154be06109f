package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.List;
import java.util.Objects;

/** Plays the agent's part of one operation. */
final class FakeAgent {

  private final World world;
  private final GpuNodeOperation operation;
  private final GpuNodeOperationStatus status;

  FakeAgent(World world, GpuNodeOperation operation) {
    this.world = world;
    this.operation = operation;
    if (operation.getStatus() == null) {
      operation.setStatus(new GpuNodeOperationStatus());
    }
    this.status = operation.getStatus();
  }

  FakeAgent claims() {
    status.setPhase(OperationPhase.CLAIMED);
    status.setClaimedBy(new Claim("agent", "boot-1", world.now));
    status.setArgv(List.of("python", "train.py"));
    status.setHardware(new Hardware("580.1", null, "None", Samples.FINGERPRINT, "h"));
    return this;
  }

  FakeAgent asksForRoom(long needed, long limit) {
    claims();
    status.setReason("WaitingForRoom");
    status.setRoom(new Room(needed, limit / 2, limit, null, needed * 10));
    return this;
  }

  FakeAgent works(String step, WorkloadState workload) {
    if (status.getClaimedBy() == null) {
      claims();
    }
    status.setReason("InProgress");
    status.setPhase(OperationPhase.RUNNING);
    status.setStep(step);
    status.setWorkload(workload);
    return this;
  }

  FakeAgent holds() {
    works("publish", WorkloadState.FROZEN);
    published();
    status.setPhase(OperationPhase.HELD);
    return this;
  }

  FakeAgent succeeds(WorkloadState workload) {
    if (status.getClaimedBy() == null) {
      claims();
    }
    FreezeOrder freeze = operation.getSpec().getFreeze();
    if (freeze != null && !freeze.getDryRun() && operation.getSpec().getArtifact() != null) {
      published();
    }
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    status.setWorkload(workload);
    if (workload == WorkloadState.RUNNING) {
      status.setSourceRunning(ConditionValue.TRUE);
      status.setSourceProcesses(2);
    }
    return this;
  }

  FakeAgent fails(Outcome outcome, String reason, ConditionValue sourceRunning) {
    status.setPhase(reason.equals("Cancelled") ? OperationPhase.CANCELLED : OperationPhase.FAILED);
    status.setOutcome(outcome);
    status.setSourceRunning(sourceRunning);
    status.setMessage("said by the agent");
    if (outcome == Outcome.UNDONE) {
      status.setArtifact(null);
    }
    if (!reason.equals("Cancelled")) {
      status.setFaults(
          List.of(new Fault(reason, "p", "w", "f", "lock", null, "p: expected w, got f")));
    }
    return this;
  }

  /** As {@code fails}, but the pod was deleted meanwhile, so the artifact is not. */
  FakeAgent failsButKeepsTheArtifact(Outcome outcome, String reason, WorkloadState workload) {
    boolean runs = workload == WorkloadState.RUNNING;
    fails(outcome, reason, runs ? ConditionValue.TRUE : ConditionValue.FALSE);
    status.setWorkload(workload);
    published();
    return this;
  }

  /** It has read the artifact on the disk of its node, which is damaged. */
  FakeAgent namesNoArtifact() {
    status.setArtifact(null);
    return this;
  }

  /** Nothing that it tried has woken the workload; it tries on. */
  FakeAgent leavesFrozen() {
    return works("unlock", WorkloadState.FROZEN)
        .fails(Outcome.NOT_UNDONE, "DriverError", ConditionValue.FALSE);
  }

  /** What was left frozen is looked at anew after the operation's end. */
  FakeAgent corrects(WorkloadState workload, ConditionValue sourceRunning) {
    status.setWorkload(workload);
    status.setSourceRunning(sourceRunning);
    status.setWorkloadTime(world.now);
    return this;
  }

  /** Its store could not take the artifact before the operation's end. */
  FakeAgent publishesLate() {
    published();
    return this;
  }

  /** As before, without a word about the workload. */
  FakeAgent ends(OperationPhase phase, Outcome outcome) {
    status.setPhase(phase);
    status.setOutcome(outcome);
    return this;
  }

  FakeAgent expects(long bytes) {
    claims();
    status.setExplanation(
        new Explanation(null, null, bytes, "2.0Gi", 14_100L, "14.1s", DataPath.MOVER, "it fits"));
    return this;
  }

  /** The workload cannot be restored in another pod. */
  FakeAgent findsTheWorkloadBoundToItsPod() {
    List<Fault> faults =
        List.of(Fault.misfit("NotPortable", Fault.SOCKET_ADDRESS, "0.0.0.0", "10.1.2.3:29500"));
    ArtifactStatus artifact = status.getArtifact();
    if (artifact != null) {
      artifact.setNotPortable(faults);
    } else {
      status.setExplanation(
          new Explanation(null, faults, 1L, "1", 14_100L, "14.1s", DataPath.MOVER, "it fits"));
    }
    return this;
  }

  FakeAgent runsIn(String containerId) {
    status.setContainerId(containerId);
    return this;
  }

  /** Says when it has ended. */
  FakeAgent endsNow() {
    status.setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, world.now)));
    return this;
  }

  /** The artifact that it has reported is on its node and is to be uploaded. */
  FakeAgent intoRemoteStore(StoreDurability promised) {
    Objects.requireNonNull(status.getArtifact()).setDurability(promised);
    return this;
  }

  FakeAgent done(long done, long total) {
    status.setDoneBytes(done);
    status.setTotalBytes(total);
    return this;
  }

  FakeAgent waitsForTheStore(String message) {
    works("upload", WorkloadState.UNKNOWN);
    status.setReason("StoreUnreachable");
    status.setMessage(message);
    return this;
  }

  FakeAgent uploads(long stored, long added) {
    published();
    ArtifactStatus artifact = Objects.requireNonNull(status.getArtifact());
    artifact.setNode(null);
    artifact.setStoredBytes(stored);
    artifact.setNewBytes(added);
    return succeeds(WorkloadState.UNKNOWN);
  }

  private void published() {
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setNode("gpu-17");
    artifact.setLocation("ml/train-1-uid-1");
    artifact.setBytes(52_505_706_496L);
    artifact.setSha256("9ab1");
    status.setArtifact(artifact);
    CheckpointTimings timings = new CheckpointTimings();
    timings.setLockMilliseconds(12L);
    timings.setFrozenMilliseconds(14_100L);
    status.setTimings(timings);
  }
}
