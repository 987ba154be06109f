package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.PlaceFingerprint;
import dev.stasis.agent.engine.Reason;
import dev.stasis.agent.engine.RestoreOutcome;
import dev.stasis.agent.engine.RestoreRequest;
import dev.stasis.agent.engine.TargetFound;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Tcp;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.RestoreOrder;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
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
import java.util.concurrent.Executor;

/**
 * Restore: checks the target, brings the workload back in it, and says why it counts as running.
 */
final class RestoreJob implements Job {

  private final AgentParts parts;
  private final Desk desk;
  private final Executor executor;

  RestoreJob(AgentParts parts, Desk desk, Executor executor) {
    this.parts = parts;
    this.desk = desk;
    this.executor = executor;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    OperationPod wanted = Objects.requireNonNull(assignment.spec().getPod());
    RestoreOrder order = Objects.requireNonNull(assignment.spec().getRestore());
    ArtifactReference artifact = Objects.requireNonNull(assignment.spec().getArtifact());
    PodLookup.Place place = new PodLookup(parts).place(wanted);
    requireOurs(assignment, place);
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(artifact, wanted.namespace());
    boolean explains = Boolean.TRUE.equals(order.getExplainOnly());
    if (artifact.sha256() == null && !explains) {
      throw new Refused(Faults.of("ArtifactRefused", "artifact.sha256", "a digest", "none"));
    }
    TargetFound target = parts.engine().restore().target(place.container().id());
    PlaceFingerprint fingerprints = parts.engine().fingerprint();
    ObservedHardware hardware = new ObservedHardware(fingerprints);
    String image = place.container().image().id();
    desk.say(
        assignment,
        status -> {
          status.setContainerId(place.container().id());
          status.setWorkload(WorkloadState.WAITING);
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
      return Ending.done("Explained", "the target has what it takes")
          .leaving(WorkloadState.WAITING, null, null);
    }
    desk.begin(assignment);
    long begin = System.nanoTime();
    RestoreOutcome outcome =
        parts
            .engine()
            .restore()
            .run(
                request(assignment, order, where, artifact, place),
                assignment.control(),
                new EngineEar(assignment, desk, false, () -> {}, System::nanoTime));
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    if (outcome instanceof RestoreOutcome.Proven) {
      // A limit that was raised for it goes down again, but never below what is used.
      executor.execute(() -> parts.engine().dropPageCache(place.container().id()));
    }
    return ending(assignment, outcome, took);
  }

  private static void requireOurs(Assignment assignment, PodLookup.Place place) throws Refused {
    Map<String, String> labels =
        Objects.requireNonNullElse(place.pod().getMetadata().getLabels(), Map.of());
    String uid = labels.get(Api.OPERATION_UID_LABEL);
    if (!assignment.spec().getRequester().uid().equals(uid)) {
      throw new Refused(
          Faults.of(
              "TargetTaken",
              "label " + Api.OPERATION_UID_LABEL + " of the target",
              assignment.spec().getRequester().uid(),
              uid == null ? "none" : uid));
    }
    if (place.pod().getMetadata().getDeletionTimestamp() != null) {
      throw new Refused(
          Faults.of(
              "PodNotRunning",
              "pod.metadata.deletionTimestamp",
              "none",
              place.pod().getMetadata().getDeletionTimestamp()));
    }
  }

  /** What the target does not have and must have. */
  private static List<Fault> misfits(RestoreOrder order, Fingerprint found, List<Gpu> seen)
      throws Refused {
    Fingerprint wanted;
    try {
      // Mounts are compared one by one by the engine, which knows those of the container toolkit.
      wanted = Fingerprint.parse(order.getFingerprint()).without(Property.MOUNTS);
    } catch (IllegalArgumentException e) {
      throw new Refused(
          Faults.of(
              Faults.INCOMPATIBLE,
              "restore.fingerprint",
              "one that can be read",
              String.valueOf(e.getMessage())));
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
      Assignment assignment,
      RestoreOrder order,
      ArtifactPlace where,
      ArtifactReference artifact,
      PodLookup.Place place) {
    RestoreRequest.Options usual = RestoreRequest.Options.defaults();
    return new RestoreRequest(
        assignment.uid(),
        assignment.owner(),
        place.container().namespace(),
        where.path(),
        artifact.sha256(),
        place.container().id(),
        new RestoreRequest.Options(
            order.getTcp() == Tcp.KEEP ? CheckpointRequest.Tcp.KEEP : CheckpointRequest.Tcp.CLOSE,
            usual.memoryWait(),
            usual.threads()),
        new WorkloadVolumes(place.container()).all());
  }

  private Ending ending(Assignment assignment, RestoreOutcome outcome, Duration took) {
    if (outcome instanceof RestoreOutcome.Proven proven) {
      String path = proven.timings().asMap().containsKey("fill") ? "Mover" : "Criu";
      parts.metrics().steps(assignment.type(), path, proven.timings());
      return new RestoreEnding(parts.clock())
          .proven(proven.proof(), proven.gpuBytes())
          .with(
              status -> {
                status.setRestoreTimings(new Timings(proven.timings()).restore(took));
                status.setDataPath(DataPath.valueOf(path.toUpperCase(java.util.Locale.ROOT)));
              });
    }
    if (outcome instanceof RestoreOutcome.Refused refused) {
      List<Fault> faults = refused.unmet().stream().map(Faults::restoring).toList();
      return Ending.refused(faults).leaving(WorkloadState.WAITING, null, null);
    }
    RestoreOutcome.Failed failed = (RestoreOutcome.Failed) outcome;
    parts.metrics().steps(assignment.type(), "Unknown", failed.timings());
    Fault fault =
        Faults.inStep(
            FreezeEnding.reason(failed.reason(), assignment), failed.step(), failed.message());
    Ending ending = Ending.failed(Outcome.UNDONE, fault).leaving(WorkloadState.ENDED, null, null);
    return failed.reason() == Reason.CANCELLED && !assignment.isRolledOut()
        ? ending.in(OperationPhase.CANCELLED)
        : ending;
  }
}
