package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.PlaceFingerprint;
import dev.stasis.agent.engine.Reason;
import dev.stasis.agent.engine.RestoreOutcome;
import dev.stasis.agent.engine.RestoreRequest;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.TargetFound;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.RestoreOrder;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Mismatch;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Restore: checks the target, restores the workload in it, and reports the verification. */
final class RestoreJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Executor executor;

  RestoreJob(AgentParts parts, OperationRecorder recorder, Executor executor) {
    this.parts = parts;
    this.recorder = recorder;
    this.executor = executor;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    OperationPod wanted = operation.pod();
    RestoreOrder order = Objects.requireNonNull(operation.spec().getRestore());
    ArtifactReference artifact = operation.artifact();
    PodLookup.Place place = new PodLookup(parts).place(wanted);
    requireOurs(operation, place);
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact, wanted.namespace());
    boolean explains = Boolean.TRUE.equals(order.getDryRun());
    if (artifact.sha256() == null && !explains) {
      throw new Refused("ArtifactRefused", "artifact.sha256", "a digest", "none");
    }
    TargetFound target = parts.engine().restore().target(place.container().id());
    PlaceFingerprint fingerprints = parts.engine().fingerprint();
    ObservedHardware hardware = new ObservedHardware(fingerprints);
    String image = place.container().image().id();
    WorkloadState found = inTarget(place.container().id());
    recorder.publish(
        operation,
        status -> {
          status.setContainerId(place.container().id());
          status.setWorkload(found);
          if (!target.seen().isEmpty()) {
            status.setHardware(hardware.of(target.gpus(), target.seen(), image));
          }
        });
    List<Fault> faults = new ArrayList<>();
    if (target.seen().isEmpty()) {
      faults.add(Faults.of("NoGpu", "GPUs of the target", "at least one", "none"));
    }
    faults.addAll(new PodPreflight().fenced(place, parts.quarantine().fenced()));
    faults.addAll(
        misfits(order, hardware.fingerprint(target.gpus(), target.seen(), image), target.seen()));
    if (!faults.isEmpty()) {
      throw new Refused(faults);
    }
    if (explains) {
      return OperationResult.done("Explained", "the target meets its requirements")
          .leaving(WorkloadState.WAITING, null, null);
    }
    recorder.begin(operation);
    long begin = System.nanoTime();
    RestoreOutcome outcome =
        parts
            .engine()
            .restore()
            .run(
                request(operation, order, where, artifact, place),
                operation.control(),
                new EngineProgressListener(operation, recorder));
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    Optional<Duration> sinceStart = parts.engine().age(place.process().id());
    if (outcome instanceof RestoreOutcome.Proven) {
      // A limit that was raised for it is lowered again, but never below the usage.
      executor.execute(() -> parts.engine().dropPageCache(place.container().id()));
    }
    return result(operation, outcome, took, sinceStart, place.container().id());
  }

  private static void requireOurs(ActiveOperation operation, PodLookup.Place place) throws Refused {
    Map<String, String> labels =
        Objects.requireNonNullElse(place.pod().getMetadata().getLabels(), Map.of());
    String uid = labels.get(Api.OPERATION_UID_LABEL);
    if (!operation.spec().getRequester().uid().equals(uid)) {
      throw new Refused(
          "TargetTaken",
          "label " + Api.OPERATION_UID_LABEL + " of the target",
          operation.spec().getRequester().uid(),
          uid == null ? "none" : uid);
    }
    if (place.pod().getMetadata().getDeletionTimestamp() != null) {
      throw new Refused(
          "PodNotRunning",
          "pod.metadata.deletionTimestamp",
          "none",
          place.pod().getMetadata().getDeletionTimestamp());
    }
  }

  /** Requirements that the target does not meet. */
  private static List<Fault> misfits(RestoreOrder order, Fingerprint found, List<Gpu> seen)
      throws Refused {
    Fingerprint wanted;
    try {
      // The engine compares mounts one by one, because it knows those of the container toolkit.
      wanted = Fingerprint.parse(order.getFingerprint()).without(Property.MOUNTS);
    } catch (IllegalArgumentException e) {
      throw new Refused(
          Faults.INCOMPATIBLE,
          "restore.fingerprint",
          "one that can be read",
          String.valueOf(e.getMessage()));
    }
    return Compatibility.check(wanted, found).mismatches().stream()
        .filter(Mismatch::hard)
        .filter(misfit -> !seen.isEmpty())
        .map(
            misfit ->
                new Fault(
                    Faults.INCOMPATIBLE,
                    misfit.property().key(),
                    misfit.wanted(),
                    misfit.found(),
                    null,
                    null,
                    misfit.sentence()))
        .toList();
  }

  private static RestoreRequest request(
      ActiveOperation operation,
      RestoreOrder order,
      ArtifactPlace where,
      ArtifactReference artifact,
      PodLookup.Place place) {
    RestoreRequest.Options usual = RestoreRequest.Options.defaults();
    return new RestoreRequest(
        operation.uid(),
        operation.owner(),
        place.container().namespace(),
        where.path(),
        artifact.sha256(),
        place.container().id(),
        new RestoreRequest.Options(
            order.getTcpConnections() == TcpConnections.RESTORE
                ? CheckpointRequest.Tcp.KEEP
                : CheckpointRequest.Tcp.CLOSE,
            usual.memoryWait(),
            usual.threads()),
        new WorkloadVolumes(place.container()).all());
  }

  /** A target in which something may run must not count as waiting: its source would be thawed. */
  private WorkloadState inTarget(String container) throws InterruptedException {
    SourceState left = parts.engine().look().restored(container);
    return left.kind() == SourceState.Kind.GONE
        ? WorkloadState.WAITING
        : OperationResult.workload(left);
  }

  private OperationResult result(
      ActiveOperation operation,
      RestoreOutcome outcome,
      Duration took,
      Optional<Duration> sinceStart,
      String container)
      throws InterruptedException {
    if (outcome instanceof RestoreOutcome.Proven proven) {
      String path = proven.timings().asMap().containsKey("fill") ? "Mover" : "Criu";
      parts.metrics().steps(operation.type(), path, proven.timings());
      return OperationResult.proven(parts.clock().instant(), proven.proof(), proven.gpuBytes())
          .with(
              status -> {
                status.setRestoreTimings(
                    new Timings(proven.timings().asMap()).restore(took, sinceStart));
                status.setDataPath(DataPath.valueOf(path.toUpperCase(java.util.Locale.ROOT)));
              });
    }
    if (outcome instanceof RestoreOutcome.Refused refused) {
      List<Fault> faults = refused.unmet().stream().map(Faults::restoring).toList();
      return OperationResult.refused(faults).leaving(inTarget(container), null, null);
    }
    RestoreOutcome.Failed failed = (RestoreOutcome.Failed) outcome;
    parts.metrics().steps(operation.type(), "Unknown", failed.timings());
    Fault fault =
        Faults.inStep(
            FreezeResult.reason(failed.reason(), operation), failed.step(), failed.message());
    OperationResult result =
        failed.ended()
            ? OperationResult.failed(Outcome.UNDONE, fault).leaving(WorkloadState.ENDED, null, null)
            : OperationResult.failed(Outcome.NOT_UNDONE, fault)
                .leaving(WorkloadState.UNKNOWN, null, null);
    return failed.ended() && failed.reason() == Reason.CANCELLED && !operation.isRolledOut()
        ? result.in(OperationPhase.CANCELLED)
        : result;
  }
}
