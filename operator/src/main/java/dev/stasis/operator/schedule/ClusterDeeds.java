package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import dev.stasis.api.v1alpha1.schedule.RestoreOnFailure;
import dev.stasis.operator.owner.Departure;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The same by the API server. */
final class ClusterDeeds implements Deeds {

  private final KubernetesClient client;
  private final Departure departure;

  ClusterDeeds(KubernetesClient client, Departure departure) {
    this.departure = departure;
    this.client = client;
  }

  @Override
  public void begin(GpuCheckpointSchedule schedule, Runs.Begin run) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    ObjectMeta meta = meta(schedule, run.checkpoint());
    meta.setAnnotations(Map.of(Api.SCHEDULED_FOR_ANNOTATION, run.due().toString()));
    checkpoint.setMetadata(meta);
    GpuCheckpointSpec spec =
        GpuCheckpointSpec.of(
            schedule.getSpec().getCheckpoint(),
            run.pod().getMetadata().getName(),
            run.pod().getMetadata().getUid());
    // It is there to be restored: freezing a workload for less would be in vain.
    spec.setRequireRestorable(true);
    checkpoint.setSpec(spec);
    create(checkpoint);
  }

  @Override
  public void cancel(Taken taken) {
    client
        .resource(taken.object())
        .edit(
            it -> {
              it.getSpec().setCancel(true);
              return it;
            });
  }

  @Override
  public void delete(Taken taken) {
    client.resource(taken.object()).delete();
  }

  @Override
  public void restore(GpuCheckpointSchedule schedule, AutomaticRestore back) {
    RestoreOnFailure wish =
        Objects.requireNonNullElseGet(
            schedule.getSpec().getRestoreOnFailure(), RestoreOnFailure::new);
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(meta(schedule, back.restore()));
    GpuRestoreSpec spec = new GpuRestoreSpec();
    spec.setCheckpointName(back.checkpoint());
    spec.setTarget(new Target(null, null, back.pod(), null));
    spec.setColdStartFallback(wish.getColdStartFallback());
    restore.setSpec(spec);
    create(restore);
  }

  @Override
  public Optional<String> depart(Pod pod) {
    return departure.refusal().or(() -> departure.prepare(pod));
  }

  @Override
  public void remove(Pod pod, boolean force) {
    DeleteOptions options =
        new DeleteOptionsBuilder()
            .withApiVersion("v1")
            .withKind("DeleteOptions")
            .withGracePeriodSeconds(force ? 0L : null)
            .withNewPreconditions()
            .withUid(pod.getMetadata().getUid())
            .endPreconditions()
            .build();
    try {
      client.raw(
          "/api/v1/namespaces/%s/pods/%s"
              .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()),
          "DELETE",
          options);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND
          && e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  /** Labels, no owner: whoever deletes a schedule keeps what it saved. */
  private static ObjectMeta meta(GpuCheckpointSchedule schedule, String name) {
    return new ObjectMetaBuilder()
        .withNamespace(schedule.getMetadata().getNamespace())
        .withName(name)
        .addToLabels(Api.SCHEDULE_LABEL, schedule.getMetadata().getName())
        .addToLabels(Api.OPERATION_UID_LABEL, schedule.getMetadata().getUid())
        .build();
  }

  private void create(HasMetadata object) {
    try {
      client.resource(object).create();
    } catch (KubernetesClientException e) {
      // Names follow from what is known: it was made by the look before this one.
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }
}
