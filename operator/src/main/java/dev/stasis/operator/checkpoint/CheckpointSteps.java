package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.workflow.Step;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The steps of a checkpoint, a suspension and an import. */
final class CheckpointSteps {

  private final CheckpointOperations operations;
  private final PodWrites pods;
  private final Departure departure;
  private final Template template;
  private final Consumer<GpuCheckpoint> delete;
  private final ArtifactUpload upload;
  private final EvictSource evictSource;
  private final EndFrozenSource endFrozenSource;
  private final PostResumeCleanup cleanup;
  private final ThawFollowUp thaw;
  private final CheckpointFinalizer finalizer;
  private final FinishedCheckpoint finished;

  /**
   * @param delete deletes a GpuCheckpoint
   */
  CheckpointSteps(
      Operations operations,
      PodWrites pods,
      Departure departure,
      Template template,
      Consumer<GpuCheckpoint> delete) {
    this.operations = new CheckpointOperations(operations);
    this.pods = pods;
    this.departure = departure;
    this.template = template;
    this.delete = delete;
    this.upload = new ArtifactUpload(this.operations);
    this.evictSource = new EvictSource(this.operations, pods, departure);
    this.endFrozenSource = new EndFrozenSource(this.operations);
    this.cleanup = new PostResumeCleanup(template, pods, departure);
    this.thaw = new ThawFollowUp(cleanup);
    this.finalizer =
        new CheckpointFinalizer(this.operations, evictSource, endFrozenSource, cleanup, thaw);
    this.finished = new FinishedCheckpoint(this.operations, cleanup, thaw);
  }

  /** Returns the steps of a checkpoint, until its artifact is Ready. */
  List<Step<CheckpointContext, CheckpointPhase>> saving() {
    return List.of(
        new AdmitSource(operations, pods, departure, template),
        new RaiseMemoryLimit(operations, pods),
        new FreezeSource(operations, finalizer),
        evictSource,
        endFrozenSource,
        new ReportResult(operations, cleanup, thaw, upload),
        keeping());
  }

  /** Returns the steps of a suspension; they are repeated as often as it is suspended. */
  List<Step<CheckpointContext, CheckpointPhase>> suspension() {
    return List.of(
        new StaySuspended(operations, finalizer), new ResumeSource(operations, finalizer, cleanup));
  }

  List<Step<CheckpointContext, CheckpointPhase>> importing() {
    return List.of(new ImportArtifact(operations, new ImportedPodPolicy(template)), keeping());
  }

  private KeepArtifact keeping() {
    return new KeepArtifact(finished, finalizer, delete);
  }

  /** Returns the workflow of a pod. A deletion ends all operations before it resumes a workload. */
  CheckpointWorkflow ofPod() {
    return workflow(Stream.concat(suspension().stream(), saving().stream()).toList());
  }

  CheckpointWorkflow ofImport() {
    return workflow(importing());
  }

  private CheckpointWorkflow workflow(List<Step<CheckpointContext, CheckpointPhase>> steps) {
    return new CheckpointWorkflow(
        steps, finished, finalizer, upload, new ArtifactVerification(operations));
  }
}
