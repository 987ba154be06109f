package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * Does in memory what is asked of the API server.
 *
 * @param world whose pods they are
 */
record FakeDeeds(World world) implements Deeds {

  @Override
  public boolean nominate(Pod preemptor, String node) {
    if (world.bound.contains(preemptor.getMetadata().getName())) {
      return false;
    }
    preemptor.getStatus().setNominatedNodeName(node);
    return true;
  }

  @Override
  public void evict(GpuPreemptionPolicy policy, String name, Pod victim, Pod preemptor) {
    world.evicted.add(victim.getMetadata().getName());
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName(name)
            .withCreationTimestamp(world.now.toString())
            .addToLabels(Api.OPERATION_UID_LABEL, policy.getMetadata().getUid())
            .addToAnnotations(
                Api.PREEMPTOR_ANNOTATION,
                "ml/" + preemptor.getMetadata().getName() + "/" + preemptor.getMetadata().getUid())
            .build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodName(victim.getMetadata().getName());
    checkpoint.getSpec().setPodUid(victim.getMetadata().getUid());
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    world.cluster.checkpoints.add(checkpoint);
  }

  @Override
  public void bringBack(GpuPreemptionPolicy policy, GpuCheckpoint from) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder(from.getMetadata())
            .withCreationTimestamp(world.now.toString())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointName(from.getMetadata().getName());
    restore.getSpec().setTarget(new Target(null, null, from.getSpec().getPodName(), null));
    world.cluster.restores.add(restore);
  }

  @Override
  public void cancel(GpuCheckpoint checkpoint) {
    checkpoint.getSpec().setCancel(true);
  }

  @Override
  public boolean forget(GpuCheckpoint checkpoint) {
    return world.forgets && world.cluster.checkpoints.remove(checkpoint);
  }

  @Override
  public void forget(GpuRestore restore) {
    world.cluster.restores.remove(restore);
  }
}
