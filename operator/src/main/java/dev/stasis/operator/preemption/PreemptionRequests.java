package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.UUID;

/**
 * The objects that a policy creates. They have its labels, but are not owned by it, so that
 * deleting a policy loses no workload.
 */
record PreemptionRequests(GpuPreemptionPolicy policy) {

  /** A GpuRestore refers to its GpuCheckpoint in 63 characters; the suffix has nine. */
  private static final int NAME = 63 - 9;

  /** Returns the checkpoint that evicts a victim. */
  GpuCheckpoint checkpoint(Pod victim, Pod preemptor) {
    ObjectMeta of = preemptor.getMetadata();
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        metadata(
            victim.getMetadata().getNamespace(),
            name(victim, preemptor),
            String.join("/", of.getNamespace(), of.getName(), of.getUid())));
    checkpoint.setSpec(
        GpuCheckpointSpec.of(
            policy.getSpec().getCheckpoint(),
            victim.getMetadata().getName(),
            victim.getMetadata().getUid()));
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    return checkpoint;
  }

  /** Returns the restore of a victim, of the same name as its checkpoint. */
  GpuRestore restore(GpuCheckpoint from) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        metadata(
            from.getMetadata().getNamespace(),
            from.getMetadata().getName(),
            Objects.requireNonNullElse(
                from.getMetadata().getAnnotations().get(Api.PREEMPTOR_ANNOTATION), "//")));
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(from.getMetadata().getName()));
    restore.getSpec().setTarget(new Target(null, null, from.getSpec().podName(), null));
    return restore;
  }

  /** Returns a name derived from both pods, so that the object is created only once. */
  static String name(Pod victim, Pod preemptor) {
    String seed = victim.getMetadata().getUid() + preemptor.getMetadata().getUid();
    String name = victim.getMetadata().getName();
    String kept = name.substring(0, Math.min(name.length(), NAME)).replaceAll("[-.]+$", "");
    UUID uuid = UUID.nameUUIDFromBytes(seed.getBytes(StandardCharsets.UTF_8));
    return kept + "-" + uuid.toString().substring(0, 8);
  }

  private ObjectMeta metadata(String namespace, String name, String preemptor) {
    return new ObjectMetaBuilder()
        .withNamespace(namespace)
        .withName(name)
        .addToLabels(Api.POLICY_LABEL, policy.getMetadata().getName())
        .addToLabels(Api.OPERATION_UID_LABEL, policy.getMetadata().getUid())
        .addToAnnotations(Api.PREEMPTOR_ANNOTATION, preemptor)
        .build();
  }
}
