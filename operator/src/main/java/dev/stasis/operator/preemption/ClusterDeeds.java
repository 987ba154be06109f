package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The same by the API server. */
final class ClusterDeeds implements Deeds {

  /** Gone, another one of that name, and one that was bound to a node meanwhile. */
  private static final Set<Integer> TOO_LATE =
      Set.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT, 422);

  private final KubernetesClient client;

  ClusterDeeds(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public boolean nominate(Pod preemptor, String node) {
    // The uid makes it a conflict when another pod has the name by now.
    Map<String, Object> patch =
        Map.of(
            "metadata", Map.of("uid", preemptor.getMetadata().getUid()),
            "status", Map.of("nominatedNodeName", node));
    try {
      client
          .pods()
          .inNamespace(preemptor.getMetadata().getNamespace())
          .withName(preemptor.getMetadata().getName())
          .subresource("status")
          .patch(
              PatchContext.of(PatchType.STRATEGIC_MERGE),
              client.getKubernetesSerialization().asJson(patch));
      return true;
    } catch (KubernetesClientException e) {
      if (!TOO_LATE.contains(e.getCode())) {
        throw e;
      }
      return false;
    }
  }

  @Override
  public void evict(GpuPreemptionPolicy policy, String name, Pod victim, Pod preemptor) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    ObjectMeta of = preemptor.getMetadata();
    checkpoint.setMetadata(
        meta(
            policy,
            victim.getMetadata().getNamespace(),
            name,
            String.join("/", of.getNamespace(), of.getName(), of.getUid())));
    GpuCheckpointSpec spec =
        GpuCheckpointSpec.of(
            policy.getSpec().getCheckpoint(),
            victim.getMetadata().getName(),
            victim.getMetadata().getUid());
    spec.setAfterCheckpoint(AfterCheckpoint.EVICT);
    checkpoint.setSpec(spec);
    create(checkpoint);
  }

  @Override
  public void bringBack(GpuPreemptionPolicy policy, GpuCheckpoint from) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        meta(
            policy,
            from.getMetadata().getNamespace(),
            from.getMetadata().getName(),
            Objects.requireNonNullElse(
                from.getMetadata().getAnnotations().get(Api.PREEMPTOR_ANNOTATION), "//")));
    GpuRestoreSpec spec = new GpuRestoreSpec();
    spec.setCheckpointName(from.getMetadata().getName());
    spec.setTarget(new Target(null, null, from.getSpec().getPodName(), null));
    restore.setSpec(spec);
    create(restore);
  }

  @Override
  public void cancel(GpuCheckpoint checkpoint) {
    client
        .resource(checkpoint)
        .edit(
            it -> {
              it.getSpec().setCancel(true);
              return it;
            });
  }

  @Override
  public boolean forget(GpuCheckpoint checkpoint) {
    try {
      // Of its version: one that goes already has another.
      return !client.resource(checkpoint).lockResourceVersion().delete().isEmpty();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
      return false;
    }
  }

  @Override
  public void forget(GpuRestore restore) {
    client.resource(restore).delete();
  }

  /** Labels, no owner: whoever deletes a policy loses no workload. */
  private static ObjectMeta meta(
      GpuPreemptionPolicy policy, String namespace, String name, String preemptor) {
    return new ObjectMetaBuilder()
        .withNamespace(namespace)
        .withName(name)
        .addToLabels(Api.POLICY_LABEL, policy.getMetadata().getName())
        .addToLabels(Api.OPERATION_UID_LABEL, policy.getMetadata().getUid())
        .addToAnnotations(Api.PREEMPTOR_ANNOTATION, preemptor)
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
