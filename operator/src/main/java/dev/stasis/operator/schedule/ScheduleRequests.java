package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Map;
import java.util.Objects;

/**
 * The objects that a schedule creates. They have its labels, but are not owned by it, so that
 * deleting a schedule keeps its checkpoints.
 */
record ScheduleRequests(GpuCheckpointSchedule schedule) {

  GpuCheckpoint checkpoint(RunPlanner.Run run) {
    GpuCheckpointSpec spec =
        GpuCheckpointSpec.of(
            schedule.getSpec().getCheckpoint(),
            run.pod().getMetadata().getName(),
            run.pod().getMetadata().getUid());
    // A checkpoint that cannot be restored is not worth the freeze.
    spec.getOptions().setRequireRestorable(true);
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(metadata(run.checkpoint()));
    checkpoint
        .getMetadata()
        .setAnnotations(Map.of(Api.SCHEDULED_FOR_ANNOTATION, run.due().toString()));
    checkpoint.setSpec(spec);
    return checkpoint;
  }

  GpuRestore restore(AutomaticRestore planned) {
    RestoreOnFailure policy =
        Objects.requireNonNullElseGet(
            schedule.getSpec().getRestoreOnFailure(), RestoreOnFailure::new);
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(metadata(planned.restore()));
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(planned.checkpoint()));
    restore.getSpec().setTarget(new Target(null, null, planned.pod(), null));
    restore.getSpec().setColdStartPolicy(policy.getColdStartPolicy());
    return restore;
  }

  private ObjectMeta metadata(String name) {
    return new ObjectMetaBuilder()
        .withNamespace(schedule.getMetadata().getNamespace())
        .withName(name)
        .addToLabels(Api.SCHEDULE_LABEL, schedule.getMetadata().getName())
        .addToLabels(Api.OPERATION_UID_LABEL, schedule.getMetadata().getUid())
        .build();
  }
}
